// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// ending is a context that ends when it has been asked so often whether it has.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// newGenerating is a set of so many members with a Secret each that is generated, and the claim of the
// first, which was given one.
func newGenerating(t *testing.T, replicas int32) (*v1.StatefulSet, *corev1.PersistentVolumeClaim) {
	t.Helper()
	_, _, set, _ := newVaultTerm(t)
	set.Spec.Replicas, set.Spec.PodManagementPolicy = &replicas, v1.ParallelPodManagement
	claim := identity.Claims(set, 0)[0]
	claim.Annotations = map[string]string{v1.GeneratedAnnotation: "web-0-auth"}
	return set, claim
}

func TestObjectsAreAssumedInAsManyStepsAsPodsAndClaimsNameSecrets(t *testing.T) {
	var steps []float64
	for _, replicas := range []int32{10, 100_000, math.MaxInt32} {
		set, claim := newGenerating(t, replicas)
		world := plan.World{Set: set, Claims: []*corev1.PersistentVolumeClaim{claim}}
		steps = append(steps, testing.AllocsPerRun(10, func() { assumed(t, &world, nil) }))
		if len(world.Objects) != 1 {
			t.Errorf("%d members: taken to be there are %v, want the Secret of the first member", replicas, world.Objects)
		}
		// Chance decides when a map grows.
		if got, few := steps[len(steps)-1], steps[0]+10; got > few {
			t.Fatalf("%d members: it takes %.0f allocations, and %.0f with 10 members; want no more than %.0f", replicas, got, steps[0], few)
		}
	}
}

func TestAPlanOfMoreMembersThanThereCanBeEnds(t *testing.T) {
	set, claim := newGenerating(t, math.MaxInt32)
	set.UID = ""
	preview := newPreview(fake.NewClientset(claim))
	shown, err := preview.Proposed(t.Context(), set, []v1.StatefulSet{*set})
	if err != nil || !shown.Truncated || shown.Outcome != v1.PlanInProgress {
		t.Errorf("got plan %+v and error %v, want one that is truncated", shown, err)
	}
	shown, err = preview.Current(t.Context(), set, []v1.StatefulSet{*set})
	if err != nil || len(shown.Rounds) != 1 {
		t.Errorf("got plan %+v and error %v, want one round", shown, err)
	}
}

func TestAPlanEndsWithItsRequest(t *testing.T) {
	set, _ := newGenerating(t, 100)
	set.Status.ObjectTemplates = []v1.ObjectTemplateStatus{
		{Name: "auth", Kind: "Secret", ObjectName: "$(IDENTITY)-auth", Wanted: 100, Present: 100, Updated: 100}}
	world := plan.World{Set: set}
	for ordinal := range 100 {
		pod := newPod(set, ordinal)
		pod.Annotations = map[string]string{v1.GeneratedAnnotation: identity.PodName(set.Name, ordinal) + "-auth"}
		world.Pods = append(world.Pods, pod)
	}
	for sentence, asked := range map[string]int{"while it looks at given Secrets": 7, "while it looks at pods": 107} {
		t.Run(sentence, func(t *testing.T) {
			few := world
			err := assumeObjects(&ending{t.Context(), asked}, &few, []v1.StatefulSet{*set}, nil)
			if got, most := len(few.Objects), min(asked, 100); !errors.Is(err, context.Canceled) || got > most {
				t.Errorf("got error %v after %d objects, want %v after at most %d", err, got, context.Canceled, most)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	preview := newPreview(fake.NewClientset())
	for name, ask := range map[string]func(context.Context, *v1.StatefulSet, []v1.StatefulSet) (*v1.StatefulSetPlan, error){
		"GET": preview.Current, "POST": preview.Proposed,
	} {
		if shown, err := ask(ended, set, nil); !errors.Is(err, context.Canceled) || shown != nil {
			t.Errorf("%s after the request has ended: got plan %v and error %v, want none and %v", name, shown, err, context.Canceled)
		}
	}
}
