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
	// MarkName is the ConfigMap of the host cluster that names the store that was created.
	MarkName = "statefulset-apiserver-etcd"
	markKey  = "cluster"

	markDescription = "Names the store to which the members of statefulset-apiserver-etcd belong. Maintained by the members. While this object exists, no member creates another store on an empty disk."

	// hostTimeout limits a request to the host cluster.
	hostTimeout = 10 * time.Second
)

// marks reads and writes what the host cluster knows.
type marks struct {
	configs typedcorev1.ConfigMapInterface
}

// known returns the name of the store that was created, "" if none was, and whether servers have
// recorded a store.
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
		return "", false, fmt.Errorf("reading which store was created: %w", err)
	}
	return config.Data[markKey], noted, nil
}

// first records that a store is created. It fails if one was recorded before.
func (m marks) first(ctx context.Context, cluster string) error {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	_, err := m.configs.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: MarkName, Annotations: map[string]string{"kubernetes.io/description": markDescription}},
		Data:       map[string]string{markKey: cluster},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("recording which store is created: %w", err)
	}
	return nil
}

// replace records that a restored store replaces the earlier one.
func (m marks) replace(ctx context.Context, cluster string) error {
	there, err := m.configs.Get(ctx, MarkName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return m.first(ctx, cluster)
	}
	if err != nil {
		return fmt.Errorf("reading which store was created: %w", err)
	}
	there.Data = map[string]string{markKey: cluster}
	if _, err := m.configs.Update(ctx, there, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("recording which store was restored: %w", err)
	}
	return nil
}
