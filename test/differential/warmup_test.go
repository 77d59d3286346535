//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
)

// awaitGarbageCollector waits until the cluster's garbage collector looks after our
// kind: it learns of new kinds every half minute only, and a scenario that deletes a
// set would wait for that on one side and not on the other.
func (l *lab) awaitGarbageCollector(t *testing.T) {
	t.Helper()
	ns, err := l.host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "warm-up-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	defer func() { _ = l.host.CoreV1().Namespaces().Delete(t.Context(), ns.Name, metav1.DeleteOptions{}) }()
	ours := l.dyn.Resource(ourSets).Namespace(ns.Name)
	labels := map[string]any{"app": "x"}
	set := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ourSets.GroupVersion().String(), "kind": "StatefulSet",
		"metadata": map[string]any{"name": "warm-up"},
		"spec": map[string]any{
			"replicas": int64(0),
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.test/main:1"}}},
			},
		},
	}}
	if _, err := ours.Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a set: %v", err)
	}
	if err := ours.Delete(t.Context(), "warm-up", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)}); err != nil {
		t.Fatalf("deleting the set: %v", err)
	}
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*patience, true, func(ctx context.Context) (bool, error) {
		_, err := ours.Get(ctx, "warm-up", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Fatalf("waiting until the garbage collector has released the set: %v", err)
	}
}
