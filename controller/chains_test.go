// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

func TestAFailureHoldsTheRestOfItsChainAndDelaysItsOwn(t *testing.T) {
	set := newSet("web")
	member := func(ordinal int) action.Action {
		return action.CreateMember{Ordinal: ordinal, Pod: identity.Pod(set, &set.Spec.Template, "rev", ordinal)}
	}
	refusal := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("policy"))
	term, host := newTestTerm(t, set)
	clock := clocktesting.NewFakeClock(time.Now())
	term.config.Clock = clock
	refuse(host, "create", "web-0", refusal)
	chains := plan.Plan{Chains: []action.Chain{{member(0), member(2)}, {member(1)}}}
	done := term.execute(t.Context(), nil, set, chains)
	if got, want := created(host), []string{"web-0"}; !slices.Equal(got, want) || done.retryAfter != shortestBackoff {
		t.Errorf("got creates of %v, and again after %s, want %v, and after %s", got, done.retryAfter, want, shortestBackoff)
	}
	host.ClearActions()
	clock.Step(shortestBackoff)
	term.execute(t.Context(), nil, set, chains)
	// The one that has not failed comes first.
	if got, want := created(host), []string{"web-0", "web-1"}; !slices.Equal(got, want) || nameOf(writesTo(host)[0]) != "web-1" {
		t.Errorf("got creates of %v, want %v, web-1 first", got, want)
	}
}

func TestChainsWaitForWhatTheyRestOn(t *testing.T) {
	set := newSet("web")
	member := func(ordinal int) action.Action {
		return action.CreateMember{Ordinal: ordinal, Pod: identity.Pod(set, &set.Spec.Template, "rev", ordinal)}
	}
	old := newRevision(set, "web-old")
	refusal := apierrors.NewForbidden(schema.GroupResource{Resource: "any"}, "any", errors.New("policy"))
	for sentence, test := range map[string]struct {
		refused string
		want    []string
	}{
		"all are carried out if nothing is refused": {
			"nothing", []string{"web-0", "web-1", "web-2", "web-new", "web-old"}},
		"no chain is begun without what all rest on, and the aside is":      {"web-new", []string{"web-new", "web-old"}},
		"an action that is refused holds what follows it, and nothing else": {"web-0", []string{"web-0", "web-2", "web-new", "web-old"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, old)
			clock := clocktesting.NewFakeClock(time.Now())
			term.config.Clock = clock
			refuse(host, "create", test.refused, refusal)
			p := plan.Plan{
				First:   action.Chain{action.CreateRevision{Revision: newRevision(set, "web-new")}},
				Chains:  []action.Chain{{member(0), member(1)}, {member(2)}},
				Finally: []action.Chain{{action.DeleteRevision{Revision: targetOf(old)}}},
			}
			term.execute(t.Context(), nil, set, p)
			if test.refused == "web-0" { // after a refusal one is tried at a time
				clock.Step(time.Second)
				p.First, p.Finally = nil, nil
				term.execute(t.Context(), nil, set, p)
			}
			var got []string
			for _, write := range writesTo(host) {
				got = append(got, nameOf(write))
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, test.want) {
				t.Errorf("got writes to %v, want %v", got, test.want)
			}
		})
	}
}
