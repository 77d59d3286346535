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

	"statefulset.dev/store/issuer"
)

const (
	// secretName is the Secret that contains the CAs. The ConfigMap of the same name contains the
	// CAs that direct clients of the server, such as a metrics scraper, must trust.
	secretName = "statefulset-apiserver-ca" //nolint:gosec // a name
	configName = secretName

	// authorityName is the name of CAs, to which their creation time is appended.
	authorityName = "statefulset-apiserver-ca"

	description       = "kubernetes.io/description"
	configDescription = "The certificate authorities (CAs) with which direct clients verify statefulset-apiserver. Maintained by the server."
)

// keeper stores the CAs in the host cluster.
type keeper struct {
	namespace string
	core      typedcorev1.CoreV1Interface
}

// kept is the Secret that was read.
type kept struct {
	secret *corev1.Secret
	// authorities is empty if the Secret is empty, as the manifests create it.
	authorities []issuer.Authority
}

// isEmpty reports whether no CA has been created yet.
func (k kept) isEmpty() bool { return len(k.secret.Data) == 0 }

// read returns the CAs, none if the Secret is empty. The server must not create Secrets, so a
// missing one is an error.
func (k keeper) read(ctx context.Context) (kept, error) {
	secret, err := k.core.Secrets(k.namespace).Get(ctx, secretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return kept{},
			fmt.Errorf("the Secret %[1]s/%[2]s does not exist, and the server has no right to create it; to create it: kubectl --namespace %[1]s create secret generic %[2]s",
				k.namespace, secretName)
	}
	if err != nil {
		return kept{}, fmt.Errorf("reading Secret %s/%s: %w", k.namespace, secretName, err)
	}
	if held := (kept{secret: secret}); held.isEmpty() {
		return held, nil
	}
	all, err := issuer.FromSecret(secret.Data)
	if err != nil {
		return kept{}, k.unusable(err.Error())
	}
	return kept{secret: secret, authorities: all}, nil
}

// usable returns why no CA can sign, nil if one can.
func (k keeper) usable(held kept, now time.Time) error {
	for _, a := range held.authorities {
		if a.Signs() && a.Valid(now) {
			return nil
		}
	}
	return k.unusable("it has no valid CA with a key")
}

// unusable returns how to fix a Secret that cannot be used. The server does not replace it without
// a request, because its author may have had a reason.
func (k keeper) unusable(why string) error {
	return fmt.Errorf(
		"the Secret %[1]s/%[2]s cannot be used: %[3]s; to have a new CA created, empty it: kubectl --namespace %[1]s patch secret %[2]s --type=json --patch='[{\"op\":\"remove\",\"path\":\"/data\"}]'",
		k.namespace, secretName, why)
}

// write replaces the CAs that were read. It fails with a conflict if another process has written
// the Secret since.
func (k keeper) write(ctx context.Context, old kept, all []issuer.Authority) error {
	data, err := issuer.ToSecret(all)
	if err != nil {
		return err
	}
	next := old.secret.DeepCopy()
	next.Data = data
	if _, err := k.core.Secrets(k.namespace).Update(ctx, next, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing Secret %s/%s: %w", k.namespace, secretName, err)
	}
	return nil
}

// publishConfigMap publishes the CAs in a ConfigMap, for clients that reach the server directly.
func (k keeper) publishConfigMap(ctx context.Context, bundle []byte) error {
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
