//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bareClients is how many pods the bare client creates at a time. More make the host slower.
const bareClients = 16

// bare reports whether the turn is that of the client that knows of no sets.
func (t *turn) bare() bool { return t.side.sets.Empty() }

// bareParallel creates the pods of a set as fast as the host lets it.
func (t *turn) bareParallel(manifest map[string]any, n int) {
	t.Helper()
	spec := t.decode(manifest)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(bareClients)
	for i := range n {
		group.Go(func() error { return t.bareMember(ctx, spec, i) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("creating pods: %v", err)
	}
}

// bareOrdered creates the next pod as soon as the one before is Ready.
func (t *turn) bareOrdered(manifest map[string]any, n int) {
	t.Helper()
	spec := t.decode(manifest)
	for i := range n {
		if err := t.bareMember(t.Context(), spec, i); err != nil {
			t.Fatalf("creating a pod: %v", err)
		}
		t.await(&t.pods.ready, i+1)
	}
}

// bareUpdate deletes each pod, and creates it again as soon as it is gone.
func (t *turn) bareUpdate(manifest map[string]any, n int) {
	t.Helper()
	spec := t.decode(manifest)
	for i := range n {
		t.bareDelete(n - 1 - i)
		t.await(&t.pods.gone, i+1)
		if err := t.bareMember(t.Context(), spec, n-1-i); err != nil {
			t.Fatalf("creating a pod: %v", err)
		}
		t.await(&t.pods.ready, n+i+1)
	}
}

// bareScaleDown deletes the next pod as soon as the one before is gone.
func (t *turn) bareScaleDown(n int) {
	t.Helper()
	for i := range n {
		t.bareDelete(n - 1 - i)
		t.await(&t.pods.gone, i+1)
	}
}

func (t *turn) bareDelete(ordinal int) {
	t.Helper()
	if err := t.host.CoreV1().Pods(t.ns).Delete(t.Context(), fmt.Sprintf("db-%d", ordinal), metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting a pod: %v", err)
	}
}

// bareMember creates the claims and the pod that a member has, without an owner.
func (t *turn) bareMember(ctx context.Context, spec *appsv1.StatefulSetSpec, ordinal int) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("db-%d", ordinal), Labels: spec.Template.Labels}, Spec: spec.Template.Spec}
	for _, template := range spec.VolumeClaimTemplates {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: template.Name + "-" + pod.Name}, Spec: template.Spec}
		if _, err := t.host.CoreV1().PersistentVolumeClaims(t.ns).Create(ctx, claim, metav1.CreateOptions{}); err != nil {
			return err
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
		}})
	}
	_, err := t.host.CoreV1().Pods(t.ns).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// decode reads the spec of a manifest.
func (t *turn) decode(manifest map[string]any) *appsv1.StatefulSetSpec {
	t.Helper()
	var set appsv1.StatefulSet
	raw, err := json.Marshal(manifest)
	if err == nil {
		err = json.Unmarshal(raw, &set)
	}
	if err != nil {
		t.Fatalf("reading a manifest: %v", err)
	}
	return &set.Spec
}
