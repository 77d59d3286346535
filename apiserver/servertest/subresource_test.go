// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func TestStatusIsWrittenThroughItsOwnPathOnly(t *testing.T) {
	s := Start(t)
	set := s.Create(t, Web("web"))

	set.Status.Replicas, set.Status.ObservedGeneration = 3, set.Generation
	set.Spec.Replicas = ptr.To[int32](9)
	got, err := s.Sets().UpdateStatus(t.Context(), set, metav1.UpdateOptions{})
	if err != nil {
		t.Fatalf("updating the status: %v", err)
	}
	if got.Status.Replicas != 3 || got.Status.ObservedGeneration != 1 || *got.Spec.Replicas != 3 || got.Generation != 1 {
		t.Errorf("after a write to status: got %+v, want status.replicas 3, observedGeneration 1, and spec as before", got)
	}

	got.Status.Replicas = 8
	got, err = s.Sets().Update(t.Context(), got, metav1.UpdateOptions{})
	if err != nil || got.Status.Replicas != 3 {
		t.Errorf("after a write to the set: got status %+v, %v, want status.replicas 3 as before", got.Status, err)
	}

	patched, err := s.Sets().Patch(t.Context(), "web", types.MergePatchType, []byte(`{"status":{"readyReplicas":4}}`), metav1.PatchOptions{},
		"status")
	if !apierrors.IsInvalid(err) {
		t.Errorf("more ready than existing: got %+v, %v, want it refused", patched, err)
	}
}

func TestScale(t *testing.T) {
	s := Start(t)
	set := s.Create(t, Web("web"))
	scale, err := s.Sets().GetScale(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the scale: %v", err)
	}
	if scale.UID != set.UID || scale.Spec.Replicas != 3 || scale.Status.Selector != "app=web" {
		t.Errorf("scale: got UID %s, replicas %d, selector %q, want %s, 3, app=web", scale.UID, scale.Spec.Replicas, scale.Status.Selector,
			set.UID)
	}

	scale.Spec.Replicas = 4
	if _, err := s.Sets().UpdateScale(t.Context(), "web", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("updating the scale: %v", err)
	}
	scale.Spec.Replicas = 5
	if _, err := s.Sets().UpdateScale(t.Context(), "web", scale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("updating an old scale: got %v, want a conflict", err)
	}

	patches := map[types.PatchType]string{
		types.MergePatchType:          `{"spec":{"replicas":6}}`,
		types.StrategicMergePatchType: `{"spec":{"replicas":7}}`,
		types.JSONPatchType:           `[{"op":"replace","path":"/spec/replicas","value":8}]`,
		types.ApplyYAMLPatchType:      `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":9}}`,
	}
	for kind, patch := range patches {
		options := metav1.PatchOptions{FieldManager: "autoscaler"}
		if kind == types.ApplyYAMLPatchType {
			options.Force = new(true)
		}
		got := &autoscalingv1.Scale{}
		err := s.Clients.AppsV1().RESTClient().Patch(kind).Namespace(Namespace).Resource("statefulsets").Name("web").SubResource("scale").
			VersionedParams(&options, metav1.ParameterCodec).Body([]byte(patch)).Do(t.Context()).Into(got)
		if err != nil || !strings.Contains(patch, string('0'+got.Spec.Replicas)) {
			t.Errorf("%s: got replicas %d, %v, want those of %s", kind, got.Spec.Replicas, err, patch)
		}
	}
}

// The record of who has scaled a set can make it too large for etcd.
func TestAScaleThatMakesASetTooLargeIsRefused(t *testing.T) {
	const etcdLimit, step = 3 << 19, 40
	s := Start(t)
	var err error
	for size := etcdLimit; size > etcdLimit-100*step; size -= step {
		set := Web("large")
		withEnv(1, size)(set)
		if _, err = s.Sets().Create(t.Context(), set, metav1.CreateOptions{}); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("creating a set that is almost too large: %v", err)
	}
	scale, err := s.Sets().GetScale(t.Context(), "large", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the scale: %v", err)
	}
	scale.Spec.Replicas = 4
	_, err = s.Sets().UpdateScale(t.Context(), "large", scale, metav1.UpdateOptions{FieldManager: strings.Repeat("x", 128)})
	if !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), "etcd") {
		t.Errorf("scaling a set that becomes too large by it: got %v, want code 413 and a reason that names etcd", err)
	}
}

func TestApplyingAScaleOwnsTheReplicasOfTheSet(t *testing.T) {
	s := Start(t)
	s.Create(t, Web("web"))
	patch := `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":9}}`
	err := s.Clients.AppsV1().RESTClient().Patch(types.ApplyYAMLPatchType).Namespace(Namespace).Resource("statefulsets").Name(
		"web").SubResource("scale").
		VersionedParams(&metav1.PatchOptions{FieldManager: "autoscaler", Force: new(true)},
			metav1.ParameterCodec).Body([]byte(patch)).Do(t.Context()).Error()
	if err != nil {
		t.Fatalf("applying the scale: %v", err)
	}
	set, err := s.Sets().Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting the set: %v", err)
	}
	owners := map[string]bool{}
	for _, entry := range set.ManagedFields {
		owners[entry.Manager] = strings.Contains(entry.FieldsV1.GetRawString(), "f:replicas")
	}
	if *set.Spec.Replicas != 9 || !owners["autoscaler"] || len(owners) != 2 {
		t.Errorf("got %d replicas, owners of spec.replicas %v, want 9, of which only autoscaler owns them", *set.Spec.Replicas, owners)
	}
	for manager, owns := range owners {
		if owns != (manager == "autoscaler") {
			t.Errorf("manager %s owns spec.replicas: got %t, want %t", manager, owns, !owns)
		}
	}
}
