// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"bytes"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"statefulset.dev/apiserver/issuer"
)

const (
	// secretName is the Secret that keeps the authorities, and the ConfigMap of the same
	// name tells whoever asks us directly, such as a scraper of metrics, whom to trust.
	secretName = "statefulset-apiserver-ca" //nolint:gosec // a name
	configName = secretName

	// authorityName is what authorities are called; when they were made is added.
	authorityName = "statefulset-apiserver-ca"

	description       = "kubernetes.io/description"
	secretDescription = "The authorities that sign the serving certificates of statefulset-apiserver, the newest last. Kept and renewed by the server. " +
		"If this is deleted, the server makes another authority; it goes on to trust those in the caBundle of its APIService until they have expired or are removed there."
	configDescription = "The authorities by which statefulset-apiserver is known to clients that reach it directly. Kept by the server."
)

// keeper keeps the authorities in the host cluster.
type keeper struct {
	namespace string
	core      typedcorev1.CoreV1Interface
}

// kept is what was read.
type kept struct {
	secret      *corev1.Secret // nil if there is none
	authorities []issuer.Authority
}

// read finds the authorities, none if there is no Secret.
func (k keeper) read(ctx context.Context) (kept, error) {
	secret, err := k.core.Secrets(k.namespace).Get(ctx, secretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return kept{}, nil
	}
	if err != nil {
		return kept{}, fmt.Errorf("reading Secret %s/%s: %w", k.namespace, secretName, err)
	}
	all, err := issuer.FromSecret(secret.Data)
	if err != nil {
		return kept{}, k.unusable(err.Error())
	}
	return kept{secret: secret, authorities: all}, nil
}

// usable says why no authority can sign, nil if one can.
func (k keeper) usable(held kept, now time.Time) error {
	for _, a := range held.authorities {
		if a.Signs() && a.Valid(now) {
			return nil
		}
	}
	return k.unusable("it has no authority that is valid and has its key")
}

// unusable says what to do about a Secret that is of no use. It is not replaced without
// being asked for: whoever gave it may have meant something by it.
func (k keeper) unusable(why string) error {
	return fmt.Errorf("the Secret %[1]s/%[2]s cannot be used: %[3]s; to have another authority made: kubectl --namespace %[1]s delete secret %[2]s", k.namespace, secretName, why)
}

// write keeps other authorities in the place of those that were read. It fails if
// somebody else was faster.
func (k keeper) write(ctx context.Context, old kept, all []issuer.Authority) error {
	data, err := issuer.ToSecret(all)
	if err != nil {
		return err
	}
	secrets := k.core.Secrets(k.namespace)
	if old.secret == nil {
		_, err = secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: secretName, Annotations: map[string]string{description: secretDescription}},
			Data:       data,
		}, metav1.CreateOptions{})
	} else {
		next := old.secret.DeepCopy()
		next.Data = data
		_, err = secrets.Update(ctx, next, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("writing Secret %s/%s: %w", k.namespace, secretName, err)
	}
	return nil
}

// tell lets clients that reach us directly know whom to trust.
func (k keeper) tell(ctx context.Context, bundle []byte) error {
	configs := k.core.ConfigMaps(k.namespace)
	there, err := configs.Get(ctx, configName, metav1.GetOptions{})
	data := map[string]string{issuer.CertificatesKey: string(bundle)}
	switch {
	case apierrors.IsNotFound(err):
		_, err = configs.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: configName, Annotations: map[string]string{description: configDescription}},
			Data:       data,
		}, metav1.CreateOptions{})
	case err == nil && !bytes.Equal([]byte(there.Data[issuer.CertificatesKey]), bundle):
		there.Data = data
		_, err = configs.Update(ctx, there, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("writing ConfigMap %s/%s: %w", k.namespace, configName, err)
	}
	return nil
}
