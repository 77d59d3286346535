// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

// scaledIn is an ordered set of one member that had two, and the pod of the second, which has lost the
// label by which pods are watched.
func scaledIn() (*v1.StatefulSet, *corev1.Pod) {
	set := newSet("web")
	set.Spec.Replicas = new(int32(1))
	pod := newPod(set, 1)
	delete(pod.Labels, "statefulset.kubernetes.io/pod-name")
	return set, pod
}

// TestASurplusPodWithoutLabelIsFound: a surplus member keeps nobody's name, so that no create comes upon
// its pod.
func TestASurplusPodWithoutLabelIsFound(t *testing.T) {
	due := action.DeleteClaim{Ordinal: 1, Claim: action.Target{Name: "data-web-1", UID: "claim"}}
	cases := map[string]struct {
		counted int32
		happens func(*testing.T, *term, *v1.StatefulSet, *corev1.Pod)
	}{
		"when the watch shows it no more": {2, func(_ *testing.T, term *term, set *v1.StatefulSet, pod *corev1.Pod) {
			term.states.getOrCreate(cache.MetaObjectToName(set)).setSearchedPods()
			before := pod.DeepCopy()
			before.Labels["statefulset.kubernetes.io/pod-name"] = pod.Name
			term.handlerOf(term.kinds.of(podsResource)).OnDelete(before)
		}},
		"when its claim is due": {1, func(t *testing.T, term *term, set *v1.StatefulSet, _ *corev1.Pod) {
			done := term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{{due}}})
			if !isStaleRead(done.stopped) {
				t.Errorf("got %v, want the claim to be kept and the set to be looked at again", done.stopped)
			}
		}},
		"when it lost its label while no controller ran": {2, func(*testing.T, *term, *v1.StatefulSet, *corev1.Pod) {}},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			set, pod := scaledIn()
			set.Status.Replicas = test.counted
			term, host := newTestTerm(t, set)
			if err := host.Tracker().Add(pod); err != nil {
				t.Fatal(err)
			}
			test.happens(t, term, set, pod)
			world, err := term.observe(t.Context(), set)
			if err != nil || len(world.Pods) != 1 || world.Pods[0].Name != "web-1" {
				t.Fatalf("got pods %v and error %v, want the surplus pod", world.Pods, err)
			}
			world.Set.Spec.PodManagementPolicy = v1.ParallelPodManagement // no member is waited for
			if planned := fmt.Sprint(plan.Compute(world).Chains); !strings.Contains(planned, "delete pod web-1 (scale down)") {
				t.Errorf("got plan %s, want the removal of the pod", planned)
			}
		})
	}
}

// TestNoPodIsSearchedForWithoutCause: a pod that is deleted, or a status that counts what the view shows, costs
// no request.
func TestNoPodIsSearchedForWithoutCause(t *testing.T) {
	set, pod := scaledIn()
	set.Status.Replicas = 0
	term, host := newTestTerm(t, set)
	pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	term.handlerOf(term.kinds.of(podsResource)).OnDelete(pod)
	host.ClearActions()
	if _, err := term.observe(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if requests := podRequests(host); requests > 0 {
		t.Errorf("%d requests about pods, want none", requests)
	}
}

func podRequests(host *fake.Clientset) (requests int) {
	for _, act := range host.Actions() {
		if act.GetResource().Resource == "pods" {
			requests++
		}
	}
	return requests
}

// TestAClaimThatAPodKeepsIsReported: once the next sync sees the pod; one that no sync gets to see is reported.
func TestAClaimThatAPodKeepsIsReported(t *testing.T) {
	set, _ := scaledIn()
	term, _ := newTestTerm(t, set)
	key := cache.MetaObjectToName(set)
	due := action.DeleteClaim{Ordinal: 1, Claim: action.Target{Name: "data-web-1"}}
	done := report{stopped: &staleRead{fmt.Errorf("pod web-1 of the removed member %w", errPodExists)}, stoppedAt: due}
	for look := range staleSyncsBeforeReport {
		if failures := term.staleReadFailures(key, done); len(failures) > 0 {
			t.Fatalf("look %d: got %v, want nothing yet", look, failures)
		}
		term.queue.AddRateLimited(key)
	}
	if failures := term.staleReadFailures(key, done); len(failures) != 1 || failures[0].Action != action.Action(due) {
		t.Errorf("got %v, want the claim that cannot be deleted", failures)
	}
}
