// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

func TestAPlanIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		policy   v1.PodManagementPolicyType
		replicas int32
	}{
		"many members one after the other": {v1.OrderedReadyPodManagement, 5000},
		"many members at the same time":    {v1.ParallelPodManagement, 5000},
		"more members than there can be":   {v1.ParallelPodManagement, 1<<31 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			set := web()
			set.Spec.PodManagementPolicy, set.Spec.Replicas = c.policy, &c.replicas
			p := played(t, plan.World{Set: set, Now: noon})
			actions := 0
			for _, round := range p.Rounds {
				for _, step := range round.Steps {
					actions += len(step.Actions)
				}
			}
			encoded, err := p.Marshal()
			if err != nil || !p.Truncated || p.Outcome != v1.PlanInProgress || len(p.Rounds) > MostRounds || actions > MostActions ||
				len(encoded) > 1<<20 {
				t.Errorf("got %d rounds, %d actions, %d bytes, outcome %s, truncated %t, error %v; want at most %d, %d and 1 MiB, and truncated",
					len(p.Rounds), actions, len(encoded), p.Outcome, p.Truncated, err, MostRounds, MostActions)
			}
		})
	}
}

func TestMembersThatAreLeftOutAreBounded(t *testing.T) {
	set := web()
	set.Spec.PodManagementPolicy, set.Spec.Replicas = v1.ParallelPodManagement, new(int32(MostMembers+20))
	world := settled(t, set)
	world.Set = world.Set.DeepCopy()
	world.Set.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.OnDeleteStatefulSetStrategyType}
	p := Now(proposed(world, newImage))
	members := p.Rounds[0].Members
	if len(members) != MostMembers || members[0].Ordinal != MostMembers+19 || members[0].WhyNot != v1.PlanWhyNotOnDelete {
		t.Errorf("got %d members, the first %+v, want %d from the highest ordinal on, %s", len(members), members[:min(len(members), 1)],
			MostMembers, v1.PlanWhyNotOnDelete)
	}
}

func TestALongDelayIsAsLongAsItsFieldHolds(t *testing.T) {
	for after, want := range map[time.Duration]int32{time.Second + 1: 2, math.MaxInt32 * time.Second: math.MaxInt32,
		2 * math.MaxInt32 * time.Second: math.MaxInt32, math.MaxInt64: math.MaxInt32} {
		if got := seconds(plan.Plan{RequeueAfter: after}); got == nil || *got != want {
			t.Errorf("a delay of %s: got %v, want %d s", after, got, want)
		}
	}
}

// text is a plan for people to read.
func text(p *v1.StatefulSetPlan) string {
	var lines strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&lines, format+"\n", args...) }
	say("plan of %s/%s, generation %d", p.Namespace, p.Name, p.Generation)
	for i, round := range p.Rounds {
		say("round %d: %d unavailable, %d may be", i+1, round.Unavailable, round.MaxUnavailable)
		for n, step := range round.Steps {
			for _, action := range step.Actions {
				say("  %d. %s: %s, because %s", n+1, action.Type, action.Description, action.Message)
			}
		}
		if round.WaitingFor != "" {
			say("  waiting for: %s", round.WaitingFor)
		}
		for _, m := range round.Members {
			say("  not yet: %d at %s, to be at %s: %s: %s", m.Ordinal, m.Revision, m.Target, m.WhyNot, m.Message)
		}
		if round.RequeueAfterSeconds != nil {
			say("  look again in %d s", *round.RequeueAfterSeconds)
		}
		if len(round.ExpectedEvents) > 0 {
			say("  then: %s", strings.Join(round.ExpectedEvents, ", "))
		}
	}
	say("%s (%s): %s", p.Outcome, p.Reason, p.Message)
	if p.Truncated {
		say("truncated")
	}
	return lines.String()
}
