// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

func TestARevisionThatPodsHaveIsReadFromTheHostWhenItIsNotSeenYet(t *testing.T) {
	set := newSet("web")
	pod := newPod(set, 0)
	pod.OwnerReferences = nil
	pod.Labels[identity.RevisionLabel] = "web-1"
	stranger := newPod(newSet("other"), 1)
	stranger.Labels[identity.RevisionLabel] = "web-2"
	term, host := newTestTerm(t, set, pod, stranger)
	set.Status.CurrentRevision = "web-3" // which is lost

	world, err := term.observe(t.Context(), set)
	if err != nil || len(world.Revisions) != 0 {
		t.Fatalf("got revisions %v and error %v, want none: there are none", world.Revisions, err)
	}
	for _, name := range []string{"web-1", "web-2"} {
		if err := host.Tracker().Add(newRevision(set, name)); err != nil {
			t.Fatal(err)
		}
	}
	world, err = term.observe(t.Context(), set)
	if err != nil || len(world.Revisions) != 1 || world.Revisions[0].Name != "web-1" {
		t.Errorf("got revisions %v and error %v, want that of the pod that may become a member", world.Revisions, err)
	}
}

func TestASetThatIsHeldWhileItIsWorkedOnGetsNothingMore(t *testing.T) {
	set := newSet("web")
	term, host := newTestTerm(t, set)
	held := set.DeepCopy()
	held.Annotations = map[string]string{v1.HoldAnnotation: "wait"}
	ctx := holding(t, term, held)
	done := term.execute(ctx, nil, set,
		plan.Plan{Chains: []action.Chain{{action.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}}}})
	if writes := writesTo(host); !isStaleRead(done.stopped) || len(writes) != 0 {
		t.Errorf("got stopped by %v and writes %v, want to look again, and none", done.stopped, writes)
	}
}
