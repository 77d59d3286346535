// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// leastNodes is the number of nodes that a store of three members needs to survive the failure of
// one node.
const leastNodes = 3

// checkStore checks that the cluster has what the store needs. It refuses to replace a store that
// has sets by an empty one.
func (r *run) checkStore(ctx context.Context) error {
	embedded, err := exists(r.host.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, dataClaim, metav1.GetOptions{}))
	if err != nil {
		return fmt.Errorf("looking for the claim of an embedded store: %w", err)
	}
	members, err := exists(r.host.CoreV1().ConfigMaps(namespace).Get(ctx, storeName, metav1.GetOptions{}))
	if err != nil {
		return fmt.Errorf("looking for a store of several members: %w", err)
	}
	noted, err := exists(r.host.CoreV1().ConfigMaps(namespace).Get(ctx, storeNote, metav1.GetOptions{}))
	if err != nil {
		return fmt.Errorf("looking for the note of the store: %w", err)
	}
	switch {
	case r.single && embedded, !r.single && members:
		return nil
	case r.changeStore || !noted:
	case r.single:
		return errors.New(
			"the cluster records a store that is not embedded: install without --single, or move the store (docs/high-availability.md) and add --change-store")
	default:
		return errors.New(
			"the cluster records a store that does not have three members: add --single if it is embedded, or move the store (docs/high-availability.md) and add --change-store")
	}
	return errors.Join(r.checkNodes(ctx), r.checkClass(ctx))
}

// checkNodes checks that each member of the store can run on its own node.
func (r *run) checkNodes(ctx context.Context) error {
	if r.single {
		return nil
	}
	nodes, err := r.host.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("looking for nodes: %w", err)
	}
	usable := slices.DeleteFunc(nodes.Items, func(n corev1.Node) bool {
		return n.Spec.Unschedulable ||
			slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
	})
	if len(usable) < leastNodes {
		return fmt.Errorf(
			"the cluster has %d nodes that accept pods, and a store of three members on fewer than three nodes can fail with one node: install one server with --single", len(usable))
	}
	return nil
}

// checkClass checks that the store gets volumes.
func (r *run) checkClass(ctx context.Context) error {
	classes, err := r.host.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("looking for a default StorageClass: %w", err)
	}
	isDefault := func(c storagev1.StorageClass) bool { return c.Annotations[defaultClass] == "true" }
	if slices.ContainsFunc(classes.Items, isDefault) {
		return nil
	}
	var names []string
	for _, c := range classes.Items {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return errors.New("the cluster has no StorageClass, so the store would have no volume: install a provisioner")
	}
	return fmt.Errorf(
		"no StorageClass is the default, so the store would have no volume: kubectl annotate storageclass %s %s=true (available: %s)", names[0],
		defaultClass, strings.Join(names, ", "))
}

// exists distinguishes an object that does not exist from a request that failed.
func exists(_ any, err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
