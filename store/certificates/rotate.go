// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"fmt"
	"time"

	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"statefulset.dev/store/issuer"
)

// settle is how long a CA signs before its predecessor is removed. Every process that can reach the
// host cluster has a new certificate long before.
const settle = 10 * time.Minute

// Rotate makes a new CA sign from now on, and returns its name. Every process gets a certificate of
// the new CA within minutes, and presents it together with the new CA's certificate as signed by
// the predecessor. So processes that read the trusted CAs earlier trust it, too. No process must
// restart until the predecessor is removed.
func Rotate(
	ctx context.Context, a Authority, secrets typedcorev1.SecretInterface, namespace string, now time.Time,
) (name string, err error) {
	s := source{secrets, namespace, a}
	return s.change(ctx, now, func(t trust) (trust, error) {
		if len(t.trusted) > 1 {
			return trust{}, fmt.Errorf("%s has signed since %s, and its predecessor is still trusted: "+
				"restart all members and servers, then run this with --finish",
				t.signer().Certificate.Subject.CommonName, t.signer().Made().UTC().Format(time.RFC3339))
		}
		made, err := issuer.New(s.commonName(), now, authorityLifetime)
		if err != nil {
			return trust{}, err
		}
		return t.succeed(made)
	})
}

// Finish removes the predecessor from the CAs that processes trust that start from now on. The
// predecessor may be the shared CA of an earlier version.
func Finish(
	ctx context.Context, a Authority, secrets typedcorev1.SecretInterface, namespace string, now time.Time,
) (name string, err error) {
	s := source{secrets, namespace, a}
	return s.change(ctx, now, func(t trust) (trust, error) {
		if len(t.trusted) == 1 {
			return trust{}, fmt.Errorf("there is only one CA, %s: "+
				"no rotation is in progress", t.signer().Certificate.Subject.CommonName)
		}
		if from := t.signer().Made().Add(settle); now.Before(from) {
			return trust{}, fmt.Errorf("%s has signed only since %s, and some processes may still have a certificate of its predecessor: "+
				"run this after %s",
				t.signer().Certificate.Subject.CommonName, t.signer().Made().UTC().Format(time.RFC3339), from.UTC().Format(time.RFC3339))
		}
		return trust{t.trusted[:1], t.chain}, nil
	})
}

// change computes the next CAs from those in the Secret, and writes them. It fails with a conflict
// if another process has written the Secret meanwhile.
func (s source) change(ctx context.Context, now time.Time, next func(trust) (trust, error)) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	secret, err := s.get(ctx, s.authority.Secret())
	if err != nil {
		return "", err
	}
	held, err := s.parse(secret, now)
	if err != nil {
		return "", err
	}
	wanted, err := next(held)
	if err != nil {
		return "", err
	}
	return wanted.signer().Certificate.Subject.CommonName, s.write(ctx, secret, wanted)
}
