// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestANewSetHasGenerationOneAndNothingButAnUnknownStatus(t *testing.T) {
	before := time.Now().Truncate(time.Second)
	set := create(t, newTestStorage(t), settest.Changed(func(set *v1.StatefulSet) {
		set.Generation = 7
		set.Status.Replicas = 3
	}))
	if set.Generation != 1 {
		t.Errorf("generation: got %d, want 1", set.Generation)
	}
	if set.Status.Replicas != 0 || set.Status.ObservedGeneration != 0 || len(set.Status.Conditions) != 1 {
		t.Fatalf("status: got %+v, want only a condition", set.Status)
	}
	ready := set.Status.Conditions[0]
	if ready.Type != v1.StatefulSetReady || ready.Status != corev1.ConditionUnknown || ready.Reason != "Pending" || ready.Message == "" {
		t.Errorf("condition: got %+v, want Ready=Unknown with reason Pending and a message", ready)
	}
	if got := ready.LastTransitionTime.Time; got.Before(before) || got.After(time.Now()) {
		t.Errorf("lastTransitionTime: got %s, want the time of the request, from %s on", got, before)
	}
}

func TestGenerationCountsChangesOfTheSpecOnly(t *testing.T) {
	s := newTestStorage(t)
	set := create(t, s, settest.Valid())

	set.Labels["c"] = "d"
	set = update(t, s, set)
	if set.Generation != 1 {
		t.Errorf("generation after a change of labels: got %d, want 1", set.Generation)
	}

	set.Spec.Replicas = ptr.To[int32](4)
	set.Status.Replicas = 4
	set = update(t, s, set)
	if set.Generation != 2 {
		t.Errorf("generation after a change of replicas: got %d, want 2", set.Generation)
	}
	if set.Status.Replicas != 0 {
		t.Errorf("status.replicas after an update of the set: got %d, want 0 as before", set.Status.Replicas)
	}
}

func TestADeleteWithoutAPolicyRemovesThePodsToo(t *testing.T) {
	got := newStrategy(newScheme(t), nil, nil).DefaultGarbageCollectionPolicy(t.Context())
	if got != rest.DeleteDependents {
		t.Errorf("policy: got %q, want %q", got, rest.DeleteDependents)
	}
}
