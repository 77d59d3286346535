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
	// ClusterNoteName is the name of the cluster note: the ConfigMap of the host cluster that names
	// the store that was created.
	ClusterNoteName = "statefulset-apiserver-etcd"
	clusterNoteKey  = "cluster"

	clusterNoteDescription = "Names the store to which the members of statefulset-apiserver-etcd belong. Maintained by the members. While this object exists, no member creates another store on an empty disk."

	// hostTimeout limits a request to the host cluster.
	hostTimeout = 10 * time.Second
)

// clusterNote reads and writes the cluster note.
type clusterNote struct {
	configs typedcorev1.ConfigMapInterface
}

// read returns the name of the store that was created, "" if none was. storeUsed is true if servers
// have recorded a store in the store note (guard.NoteName).
func (m clusterNote) read(ctx context.Context) (cluster string, storeUsed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	storeUsed, err = guard.HostKnowsStore(ctx, m.configs)
	if err != nil {
		return "", false, err
	}
	config, err := m.configs.Get(ctx, ClusterNoteName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", storeUsed, nil
	case err != nil:
		return "", false, fmt.Errorf("reading which store was created: %w", err)
	}
	return config.Data[clusterNoteKey], storeUsed, nil
}

// create records in the cluster note that a store is created. It fails if one was recorded before.
func (m clusterNote) create(ctx context.Context, cluster string) error {
	ctx, cancel := context.WithTimeout(ctx, hostTimeout)
	defer cancel()
	_, err := m.configs.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: ClusterNoteName, Annotations: map[string]string{"kubernetes.io/description": clusterNoteDescription}},
		Data:       map[string]string{clusterNoteKey: cluster},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("recording which store is created: %w", err)
	}
	return nil
}

// replace records in the cluster note that a restored store replaces the earlier one.
func (m clusterNote) replace(ctx context.Context, cluster string) error {
	there, err := m.configs.Get(ctx, ClusterNoteName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return m.create(ctx, cluster)
	}
	if err != nil {
		return fmt.Errorf("reading which store was created: %w", err)
	}
	there.Data = map[string]string{clusterNoteKey: cluster}
	if _, err := m.configs.Update(ctx, there, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("recording which store was restored: %w", err)
	}
	return nil
}
