// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"statefulset.dev/store/issuer"
)

const (
	// ServersSecret is the Secret in which members pass servers their certificate. The manifests
	// create it empty.
	ServersSecret = "statefulset-apiserver-etcd-server-tls" //nolint:gosec // a name
	// ServerName is the name in certificates of servers, also in those of earlier versions, which
	// servers signed themselves.
	ServerName = "statefulset-apiserver"
)

// keepServers writes a new certificate for the servers when necessary. All members do so, and the
// first one wins.
func (s source) keepServers(ctx context.Context, t trust, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	secret, err := s.get(ctx, ServersSecret)
	if err != nil {
		return err
	}
	authorities, err := issuer.EncodeCertificates(t.trusted)
	if err != nil || current(secret, t, authorities, now) {
		return err
	}
	made, err := t.signer().Issue(issuer.Request{Name: ServerName, Client: true, Lifetime: DefaultLifetime}, now)
	if err != nil {
		return err
	}
	secret.Data = map[string][]byte{
		issuer.CertificatesKey:  authorities,
		corev1.TLSCertKey:       slices.Concat(made.Certificate, t.chain),
		corev1.TLSPrivateKeyKey: made.Key,
	}
	_, err = s.secrets.Update(ctx, secret, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing Secret %s/%s: %w", s.namespace, ServersSecret, err)
	}
	klog.FromContext(ctx).Info("Renewed the certificate of the servers", "secret", ServersSecret,
		"until", made.Until.UTC().Format(time.RFC3339))
	return nil
}

// current reports whether the servers have the certificate that they should have now.
func current(secret *corev1.Secret, t trust, authorities []byte, now time.Time) bool {
	shown := secret.Data[corev1.TLSCertKey]
	pair, err := tls.X509KeyPair(shown, secret.Data[corev1.TLSPrivateKeyKey])
	return err == nil && pair.Leaf.CheckSignatureFrom(t.signer().Certificate) == nil &&
		bytes.HasSuffix(shown, t.chain) && bytes.Equal(secret.Data[issuer.CertificatesKey], authorities) &&
		now.Before(issuer.Authority{Certificate: pair.Leaf}.Renewal())
}

// receiving are the files of a server.
type receiving struct {
	*Files
	secrets   typedcorev1.SecretInterface
	namespace string
	last      string // the version of the Secret that the files come from
}

// Receive writes the files of a server, with the certificate that members have signed for it. It
// waits until there is one, or ctx ends.
func Receive(ctx context.Context, directory string, secrets typedcorev1.SecretInterface, namespace string) (*Files, error) {
	r := &receiving{Files: &Files{directory: directory, interval: refreshInterval}, secrets: secrets, namespace: namespace}
	r.refresh = r.read
	return r.Files, r.await(ctx)
}

func (r *receiving) read(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	secret, err := source{secrets: r.secrets, namespace: r.namespace}.get(ctx, ServersSecret)
	if err != nil {
		return err
	}
	if err := valid(secret, now); err != nil {
		return fmt.Errorf("the Secret %s/%s cannot be used: %w", r.namespace, ServersSecret, err)
	}
	if r.last != "" && r.last == secret.ResourceVersion {
		return nil
	}
	pair := slices.Concat(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err := r.write(secret.Data[issuer.CertificatesKey], pair); err != nil {
		return err
	}
	r.last = secret.ResourceVersion
	return nil
}

// valid returns why a server cannot use a Secret, nil if it can.
func valid(secret *corev1.Secret, now time.Time) error {
	if len(secret.Data) == 0 {
		return errors.New("it is empty: no member of the store has signed a certificate for the servers yet")
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return fmt.Errorf("reading its certificate: %w", err)
	}
	if _, err := issuer.FromSecret(map[string][]byte{issuer.CertificatesKey: secret.Data[issuer.CertificatesKey]}); err != nil {
		return err
	}
	if now.After(pair.Leaf.NotAfter) {
		return fmt.Errorf("its certificate expired on %s, and no member of the store has renewed it",
			pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}
