// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"errors"
	"slices"
	"time"

	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"statefulset.dev/store/issuer"
)

// DefaultLifetime is how long a certificate is valid. It is renewed after two thirds of that time.
const DefaultLifetime = 90 * 24 * time.Hour

// signing are the files of a member, which signs its certificates itself.
type signing struct {
	*Files
	source  source
	request issuer.Request
	trust   trust
	renewal time.Time
}

// Sign writes the files of a member, with a certificate of one of the CAs. It requests the CA from
// the host cluster until it succeeds or ctx ends. With Clients, Run also keeps the certificate of
// the servers in its Secret.
func Sign(
	ctx context.Context, directory string, a Authority, request issuer.Request, secrets typedcorev1.SecretInterface, namespace string,
) (*Files, error) {
	s := &signing{source: source{secrets, namespace, a}, request: request}
	s.Files = &Files{directory: directory, interval: refreshInterval, refresh: s.sign}
	if a == Clients {
		s.also = func(ctx context.Context, now time.Time) error { return s.source.keepServers(ctx, s.trust, now) }
	}
	return s.Files, s.await(ctx)
}

// sign issues another certificate if necessary. A CA that cannot be read now continues to sign.
func (s *signing) sign(ctx context.Context, now time.Time) error {
	found, err := s.source.obtain(ctx, s.trust, now)
	if err != nil && len(s.trust.trusted) == 0 {
		return err
	}
	if err == nil && !found.is(s.trust) {
		klog.FromContext(ctx).Info("Switched to another CA of the store", "authority", s.source.authority,
			"name", found.signer().Certificate.Subject.CommonName, "trusted", len(found.trusted))
		s.trust, s.renewal = found, now
	}
	if now.Before(s.renewal) {
		return err
	}
	return errors.Join(err, s.issue(now))
}

func (s *signing) issue(now time.Time) error {
	made, err := s.trust.signer().Issue(s.request, now)
	if err != nil {
		return err
	}
	authorities, err := issuer.EncodeCertificates(s.trust.trusted)
	if err != nil {
		return err
	}
	if err := s.write(authorities, slices.Concat(made.Certificate, s.trust.chain, made.Key)); err != nil {
		return err
	}
	s.renewal = made.Renewal
	return nil
}
