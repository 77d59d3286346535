// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// withOverrides is the world of a set at rest with so many members, all of which have one of as
// many overrides as there may be, in turn.
func withOverrides(t *testing.T, members int) World {
	const most = 50
	h := newHost(t, Compute)
	h.configure([]string{fmt.Sprintf("replicas=%d", members), "policy=Parallel", "claims=www", "volumeClaimUpdate=InPlace"})
	set := h.set.DeepCopy()
	for i := range most {
		override := v1.MemberOverride{Name: fmt.Sprint("o", i), NodeSelector: map[string]string{"disk": fmt.Sprint(i)},
			Containers:   []v1.ContainerOverride{{Name: "nginx", Image: fmt.Sprint("nginx:", i)}},
			VolumeClaims: h.overrides("x@0@storage=www=2Gi")[0].VolumeClaims}
		for ordinal := i; ordinal < members; ordinal += most {
			override.Ordinals = append(override.Ordinals, v1.OrdinalRange{First: int32(ordinal)})
		}
		set.Spec.Overrides = append(set.Spec.Overrides, override)
	}
	first := Compute(World{Set: set, Now: h.now})
	set.Status = first.Status
	world := World{Set: set, Now: h.now}
	for _, act := range first.First {
		if create, ok := act.(action.CreateRevision); ok {
			create.Revision.UID = "revision-uid"
			world.Revisions = append(world.Revisions, create.Revision)
		}
	}
	overrides := identity.OverridesOf(set)
	for ordinal := range members {
		pod, _ := overrides.Pod(identity.SourceOf(set), set.Status.UpdateRevision, ordinal)
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: h.now}}}}
		claim, _ := overrides.Claim(0, ordinal)
		claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: claim.Spec.Resources.Requests}
		world.Pods, world.Claims = append(world.Pods, pod), append(world.Claims, claim)
	}
	return world
}

// TestOverridesCostALookNothingPerMember compares what a look at a set costs whose members all
// have overrides with one at the same members of a set that has none, and leaves them as they
// are: what follows from an override is made once, however many members it has.
func TestOverridesCostALookNothingPerMember(t *testing.T) {
	const members, most = 5000, 2000
	world := withOverrides(t, members)
	if p := Compute(world); len(p.All()) > 0 {
		t.Fatalf("the set is to be at rest, and gets %v", p.All()[0])
	}
	with := testing.AllocsPerRun(3, func() { Compute(world) })
	world.Set.Spec.Overrides, world.Set.Spec.UpdateStrategy = nil, v1.StatefulSetUpdateStrategy{Type: v1.OnDeleteStatefulSetStrategyType}
	if plain := testing.AllocsPerRun(3, func() { Compute(world) }); with > plain+most {
		t.Errorf("allocations of a look at %d members with 50 overrides: got %v, want at most %v, %d more than without", members, with,
			plain+most, most)
	}
}

// TestAPlanOfManyOverridesSharesContainers is about a set that was stored with thousands of
// containers and as many overrides as there may be: each copies the containers.
func TestAPlanOfManyOverridesSharesContainers(t *testing.T) {
	const containers, most = 20_000, 64 << 20
	world := withOverrides(t, 5000)
	for i := range containers {
		world.Set.Spec.Template.Spec.Containers = append(world.Set.Spec.Template.Spec.Containers,
			corev1.Container{Name: fmt.Sprint("c", i), Image: "b"})
	}
	world.Pods, world.Claims = nil, nil
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := Compute(world)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if took := int64(after.HeapAlloc) - int64(before.HeapAlloc); took > most {
		t.Errorf("a plan with %d actions takes %d MiB, want at most %d", len(p.All()), took>>20, most>>20)
	}
	runtime.KeepAlive(p)
}
