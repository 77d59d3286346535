// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"statefulset.dev/store/guard"
)

const (
	// MarkName is the ConfigMap of the host cluster that says which store was begun.
	MarkName = "statefulset-apiserver-etcd"
	markKey  = "cluster"

	markDescription = "Which store the members of statefulset-apiserver-etcd belong to. Kept by them. While it is here, no member begins another store on an empty disk."

	// hostTimeout bounds a question to the host.
	hostTimeout = 10 * time.Second
)

// marks is what the host cluster knows.
type marks struct {
	configs typedcorev1.ConfigMapInterface
}

// known is the name of the store that was begun, "" if none was, and whether servers have
// noted a store.
func (m marks) known(ctx context.Context) (cluster string, noted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	noted, err = guard.Noted(ctx, m.configs)
	if err != nil {
		return "", false, err
	}
	config, err := m.configs.Get(ctx, MarkName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", noted, nil
	case err != nil:
		return "", false, fmt.Errorf("reading which store was begun: %w", err)
	}
	return config.Data[markKey], noted, nil
}

// first notes that a store is begun. It fails if one was.
func (m marks) first(ctx context.Context, cluster string) error {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	_, err := m.configs.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: MarkName, Annotations: map[string]string{"kubernetes.io/description": markDescription}},
		Data:       map[string]string{markKey: cluster},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("noting which store is begun: %w", err)
	}
	return nil
}

// replace notes that a restored store takes the place of the one that was.
func (m marks) replace(ctx context.Context, cluster string) error {
	there, err := m.configs.Get(ctx, MarkName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return m.first(ctx, cluster)
	}
	if err != nil {
		return fmt.Errorf("reading which store was begun: %w", err)
	}
	there.Data = map[string]string{markKey: cluster}
	if _, err := m.configs.Update(ctx, there, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("noting which store was restored: %w", err)
	}
	return nil
}
