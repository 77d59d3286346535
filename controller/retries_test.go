// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

func TestAPodThatMayNotBeEvictedIsTriedAgainWithinAMinute(t *testing.T) {
	set := newSet("web")
	first, second := newPod(set, 0), newPod(set, 1)
	term, host := newTestTerm(t, set, first, second)
	clock := clocktesting.NewFakeClock(time.Now())
	term.config.Clock = clock
	refuse(host, "create", "web-0", notAllowed())
	watchDeciding(t, term, notAllowed())
	clock.Step(time.Second)
	remove := func(pod *corev1.Pod, evict bool) action.Chain {
		return action.Chain{action.DeletePod{Pod: targetOf(pod), Reason: action.DeleteForUpdate, Evict: evict}}
	}
	for try, delay := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute} {
		host.ClearActions()
		done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{remove(first, true)}})
		if done.retryAfter != delay || len(writesTo(host)) != 1 {
			t.Fatalf("try %d: got retry after %s and writes %v, want one and %s", try, done.retryAfter, writesTo(host), delay)
		}
		if want := []string{"EvictionBlocked"}; !slices.Equal(reasonsOf(done.events), want) {
			t.Errorf("try %d: got events %v, want %v", try, reasonsOf(done.events), want)
		}
		status := plan.WithFailures(set.Status, plan.Plan{Status: set.Status}, done.failures, clock.Now())
		want := fmt.Sprintf(
			`could not evict pod web-0 (update): deleting pod "web-0" (update): Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 healthy pods and has 2 currently (tried at %s, next at %s)`,
			clock.Now().UTC().Format(time.RFC3339), clock.Now().Add(delay).UTC().Format(time.RFC3339))
		for _, c := range status.Conditions {
			if c.Reason != "DisruptionNotAllowed" || c.Message != want || c.Type == "Stalled" && c.Status == "True" {
				t.Errorf("try %d: got condition %v, want none that is stalled, and the message %q", try, c, want)
			}
		}
		clock.Step(delay)
	}
	host.ClearActions()
	if done := term.execute(t.Context(), nil, set,
		plan.Plan{Chains: []action.Chain{remove(first, true), remove(second, false)}}); len(writesTo(host)) != 2 {
		t.Errorf("beside an eviction that is not allowed: got writes %v and failures %v, want the other pod deleted", writesTo(host),
			done.failures)
	}
}

// Nobody but a person who knows that a node is off may do without the confirmation of its end.
func TestNoPodIsRemovedBeforeItHasEnded(t *testing.T) {
	set := newSet("web")
	pod := newPod(set, 0)
	for sentence, evict := range map[string]bool{"deleted": false, "evicted": true} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, pod)
			term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{action.DeletePod{Pod: targetOf(pod), Evict: evict}}}})
			for _, act := range writesTo(host) {
				var options metav1.DeleteOptions
				switch act := act.(type) {
				case clienttesting.DeleteActionImpl:
					options = act.DeleteOptions
				case clienttesting.CreateActionImpl:
					options = *act.Object.(*policyv1.Eviction).DeleteOptions
				default:
					t.Fatalf("got %v, want a removal", act)
				}
				if options.GracePeriodSeconds != nil {
					t.Errorf("the pod is %s with a grace period of %d seconds, want its own", sentence, *options.GracePeriodSeconds)
				}
			}
			if got := len(writesTo(host)); got != 1 {
				t.Errorf("got %d writes, want 1", got)
			}
		})
	}
}

// watchDeciding watches what a refusal may depend on, so that no first list is taken for a change later.
func watchDeciding(t *testing.T, term *term, refusal error) {
	t.Helper()
	term.watchChanges(t.Context(), refusal)
	for i := range term.changes.deciding {
		if kind := &term.changes.deciding[i]; kind.concerns(refusal) {
			eventually(t, kind.name+" are watched", func() bool {
				term.changes.mu.Lock()
				defer term.changes.mu.Unlock()
				return !term.changes.last[changeIn{i, ""}].IsZero()
			})
		}
	}
}

func TestWhatWasRefusedIsTriedAgainLaterAndNotAtTheNextEvent(t *testing.T) {
	set := newSet("web")
	refusal := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("policy"))
	term, host := newTestTerm(t, set)
	clock := clocktesting.NewFakeClock(time.Now())
	term.config.Clock = clock
	refuse(host, "create", "web-0", refusal)
	watchDeciding(t, term, refusal)
	clock.Step(time.Second)
	steps := plan.Plan{Chains: []action.Chain{{action.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}}}}
	delay := shortestBackoff
	for try := range 20 {
		host.ClearActions()
		first, second := term.execute(t.Context(), nil, set, steps), term.execute(t.Context(), nil, set, steps)
		if got := len(created(host)); got != 1 {
			t.Fatalf("try %d: got %d creates, want 1", try, got)
		}
		if len(second.failures) != 1 || !errors.Is(second.failures[0].Err, refusal) ||
			len(second.events) > 0 && second.events[0].eventType == corev1.EventTypeWarning {
			t.Fatalf("try %d: got failures %v and events %v; want the same refusal and no event of it", try, second.failures, second.events)
		}
		if first.retryAfter != delay {
			t.Fatalf("try %d: got retry after %s, want %s", try, first.retryAfter, delay)
		}
		clock.Step(delay)
		delay = min(2*delay, longestBackoff)
	}
}
