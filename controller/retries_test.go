// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func TestWhatWasRefusedIsTriedAgainLaterAndNotAtTheNextEvent(t *testing.T) {
	set := newSet("web")
	refusal := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("policy"))
	term, host := newTestTerm(t, set)
	clock := clocktesting.NewFakeClock(time.Now())
	term.Clock = clock
	refuse(host, "create", "web-0", refusal)
	steps := plan.Plan{Chains: []plan.Chain{{plan.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}}}}
	delay := shortestBackoff
	for try := range 20 {
		host.ClearActions()
		first, second := term.execute(t.Context(), nil, set, steps), term.execute(t.Context(), nil, set, steps)
		if got := len(created(host)); got != 1 {
			t.Fatalf("try %d: got %d creates, want 1", try, got)
		}
		if len(second.failures) != 1 || !errors.Is(second.failures[0].Err, refusal) || len(second.events) > 0 && second.events[0].kind == corev1.EventTypeWarning {
			t.Fatalf("try %d: got failures %v and events %v; want the same refusal and no event of it", try, second.failures, second.events)
		}
		if first.retryAfter != delay {
			t.Fatalf("try %d: got retry after %s, want %s", try, first.retryAfter, delay)
		}
		clock.Step(delay)
		delay = min(2*delay, longestBackoff)
	}
}
