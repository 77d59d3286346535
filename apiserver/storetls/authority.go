// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storetls

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"statefulset.dev/apiserver/issuer"
)

const (
	// SecretName is the Secret that has the authority.
	SecretName = "statefulset-apiserver-etcd-ca" //nolint:gosec // a name

	// authorityName is what authorities are called; when they were made is added.
	authorityName = "statefulset-apiserver-etcd-ca"
	// chainKey is where the Secret has the certificate of the authority that signs as its
	// predecessor has signed it.
	chainKey = "chain.crt"

	// authorityLifetime is long, because etcd reads whom to trust at its start only: when another
	// authority has taken its place, all members and servers have to be restarted once.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// requestTimeout bounds a question to the host.
	requestTimeout = 10 * time.Second

	secretDescription = "The authority by which statefulset-apiserver and the members of its store know each other. Made by whichever of them came first; another one takes its place with: statefulset-apiserver store rotate-authority. " +
		"Whoever can read it can read and change every StatefulSet of apps.statefulset.dev."
)

// trust is whom members and servers trust, and who signs for them.
type trust struct {
	// trusted are the authorities, the one that signs first.
	trusted []issuer.Authority
	// chain is what is shown with every certificate to those who know the predecessor only. PEM,
	// empty if there was none.
	chain []byte
}

func (t trust) signer() issuer.Authority { return t.trusted[0] }

// is says whether two are the same.
func (t trust) is(other trust) bool {
	return bytes.Equal(t.chain, other.chain) && slices.EqualFunc(t.trusted, other.trusted, issuer.Authority.Is)
}

// obtain reads whom to trust, and makes an authority if there is none.
func obtain(ctx context.Context, secrets typedcorev1.SecretInterface, namespace string, now time.Time) (trust, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	secret, err := secrets.Get(ctx, SecretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if secret, err = create(ctx, secrets, now); apierrors.IsAlreadyExists(err) {
			secret, err = secrets.Get(ctx, SecretName, metav1.GetOptions{})
		}
	}
	if err != nil {
		return trust{}, fmt.Errorf("reading Secret %s/%s: %w", namespace, SecretName, err)
	}
	return parse(secret, namespace, now)
}

func parse(secret *corev1.Secret, namespace string, now time.Time) (trust, error) {
	all, err := issuer.FromSecret(secret.Data)
	if err == nil {
		err = usable(all, now)
	}
	if err != nil {
		return trust{}, fmt.Errorf("the Secret %[1]s/%[2]s cannot be used: %[3]w; to have another authority made: kubectl --namespace %[1]s delete secret %[2]s, then restart all members of the store and all servers", namespace, SecretName, err)
	}
	return trust{all, secret.Data[chainKey]}, nil
}

func usable(all []issuer.Authority, now time.Time) error {
	switch a := all[0]; {
	case len(all) > 2:
		return fmt.Errorf("it has %d authorities, want 1, or 2 while one takes the place of the other", len(all))
	case !a.Signs():
		return fmt.Errorf("it does not have the key of %s", a.Certificate.Subject.CommonName)
	case !a.Valid(now):
		return fmt.Errorf("%s has expired on %s", a.Certificate.Subject.CommonName, a.Certificate.NotAfter.UTC().Format(time.RFC3339))
	case a.Certificate.NotBefore.After(now):
		return fmt.Errorf("%s was made on %s, and the clock of this machine says %s: set the clock", a.Certificate.Subject.CommonName, a.Made().UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

func create(ctx context.Context, secrets typedcorev1.SecretInterface, now time.Time) (*corev1.Secret, error) {
	made, err := issuer.New(authorityName, now, authorityLifetime)
	if err != nil {
		return nil, err
	}
	data, err := issuer.ToSecret([]issuer.Authority{made})
	if err != nil {
		return nil, err
	}
	secret, err := secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: SecretName, Annotations: map[string]string{"kubernetes.io/description": secretDescription}},
		Data:       data,
	}, metav1.CreateOptions{})
	if err == nil {
		klog.FromContext(ctx).Info("Made the authority of the store", "authority", made.Certificate.Subject.CommonName, "expires", made.Certificate.NotAfter.Format(time.RFC3339))
	}
	return secret, err
}
