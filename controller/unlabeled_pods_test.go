// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

func TestAPodThatCannotBeWatchedIsReadFromTheHost(t *testing.T) {
	set := newSet("web")
	unlabelled := newPod(set, 0)
	unlabelled.Labels = map[string]string{"app": "web"}
	term, host := newTestTerm(t, set)
	if err := host.Tracker().Add(unlabelled); err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakeClock(time.Now())
	term.config.Clock = clock
	key := cache.MetaObjectToName(set)

	term.execute(t.Context(), nil, set,
		plan.Plan{Chains: []action.Chain{{action.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}}}})
	world, err := term.observe(t.Context(), set)
	if err != nil || len(world.Pods) != 1 || world.Pods[0].Name != "web-0" {
		t.Fatalf("got pods %v and error %v, want the pod that was in the way", world.Pods, err)
	}
	if got := term.states.getOrCreate(key).nextUnlabeledPodsSync(); got != unlabeledPodsInterval {
		t.Errorf("got next look %s, want %s", got, unlabeledPodsInterval)
	}

	if err := host.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "shop", "web-0"); err != nil {
		t.Fatal(err)
	}
	clock.Step(unlabeledPodsInterval)
	world, err = term.observe(t.Context(), set)
	if err != nil || len(world.Pods) != 0 || term.states.getOrCreate(key).nextUnlabeledPodsSync() != 0 {
		t.Errorf("got pods %v, next look %s and error %v; want none", world.Pods, term.states.getOrCreate(key).nextUnlabeledPodsSync(), err)
	}
}

// TestAPodThatTheCacheWillShowIsWaitedFor: a create whose answer was lost is answered with
// "already exists" when it is tried again before the cache shows the pod.
func TestAPodThatTheCacheWillShowIsWaitedFor(t *testing.T) {
	set := newSet("web")
	pod := newPod(set, 0)
	pod.ResourceVersion = "900"
	term, host := newTestTerm(t, set)
	if err := host.Tracker().Add(pod); err != nil {
		t.Fatal(err)
	}
	term.execute(t.Context(), nil, set,
		plan.Plan{Chains: []action.Chain{{action.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}}}})
	_, err := term.observe(t.Context(), set)
	known := term.states.getOrCreate(cache.MetaObjectToName(set))
	if !isStaleRead(err) || len(known.unlabeledPods()) != 0 {
		t.Errorf("got error %v and pods %v, want to look again, and no pod that is only late", err, known.unlabeledPods())
	}
	if got := known.ownWrites.versions[podsResource]; got != "900" {
		t.Errorf("the set waits for version %q of pods, want %q", got, "900")
	}
}

// readsOf is how many pods are read while a set is looked at, and how many of them the
// planner is told of.
func readsOf(t *testing.T, host *fake.Clientset, look func() (int, error)) (reads, told int) {
	t.Helper()
	host.ClearActions()
	told, err := look()
	if err != nil {
		t.Fatalf("looking at the set: %v", err)
	}
	for _, act := range host.Actions() {
		if act.Matches("get", "pods") {
			reads++
		}
	}
	return reads, told
}

func TestPodsThatCannotBeWatchedAreNotReadAtEverySync(t *testing.T) {
	const many = 100
	set := parallelSet("web", many)
	term, host := newTestTerm(t, set)
	clock := clocktesting.NewFakeClock(time.Now())
	term.config.Clock = clock
	key := cache.MetaObjectToName(set)
	for ordinal := range many {
		pod := newPod(set, ordinal)
		pod.Labels = nil
		if err := host.Tracker().Add(pod); err != nil {
			t.Fatal(err)
		}
		term.states.getOrCreate(key).addUnlabeledPod(pod.Name)
	}
	look := func() (int, error) {
		world, err := term.observe(t.Context(), set)
		return len(world.Pods), err
	}
	for _, step := range []struct {
		when      string
		after     time.Duration
		changed   int
		wantReads int
	}{
		{"first", 0, 0, many},
		{"at the next event", time.Second, 0, 0},
		{"when two were not as they were seen", time.Second, 2, 2},
		{"after a while", unlabeledPodsInterval, 0, unlabeledPodsPerSync},
		{"at the event after that, those that are still due", time.Second, 0, unlabeledPodsPerSync},
	} {
		clock.Step(step.after)
		for ordinal := range step.changed {
			term.states.getOrCreate(key).unlabeledPodChanged(fmt.Sprintf("web-%d", ordinal))
		}
		reads, told := readsOf(t, host, look)
		t.Logf("%s: %d reads, %d pods told of", step.when, reads, told)
		if reads != step.wantReads || told != many {
			t.Errorf("%s: got %d reads and %d pods told of, want %d and %d", step.when, reads, told, step.wantReads, many)
		}
	}
}

func TestAnUnlabeledPodThatHasChangedIsLookedAtAgain(t *testing.T) {
	set := newSet("web")
	unlabelled := newPod(set, 0)
	unlabelled.Labels = map[string]string{"app": "web"}
	term, host := newTestTerm(t, set)
	if err := host.Tracker().Add(unlabelled); err != nil {
		t.Fatal(err)
	}
	key := cache.MetaObjectToName(set)
	term.states.getOrCreate(key).addUnlabeledPod(unlabelled.Name)
	if _, err := term.observe(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	refuse(host, "patch", "web-0", apierrors.NewConflict(corev1.Resource("pods"), "web-0", fmt.Errorf("changed")))
	term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{action.RepairPod{Pod: targetOf(metav1.Object(unlabelled))}}}})
	if due := term.states.getOrCreate(key).unlabeledPodsDue(term.config.Clock.Now()); len(due) != 1 {
		t.Errorf("got %v to be looked at after a conflict, want the pod", due)
	}
}
