// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package forecast shows plans to people. Now describes what the planner does in a
// world. Play asks the planner again and again, and lets a host in memory do what the
// plans say, until nothing is left to do, nothing leads on, or the limits are reached.
//
// The host in memory is willing: pods start and become available, terminating pods
// go, claims go with the pods that own them. It is not naive: a pod of the world that
// cannot start now (no node, no image, a container that keeps ending) does not start
// in the forecast either, nor does one whose claims do not exist.
package forecast

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// A plan lists no more than this many rounds and actions, names no more than this many claims
// in its actions, and lists no more than this many members in each of two rounds.
const (
	MostRounds  = 500
	MostActions = 2000
	MostClaims  = 10_000
	MostMembers = 100
)

// mostVisits bounds the work: in each round every member and claim is visited, and the
// template is written down. A set of 1,000 members with a claim each has 500 rounds still.
// mostMade bounds the memory: that many objects, volumes and labels are in
// the host in memory at a time that were not in the world.
const (
	mostVisits  = 2_000_000
	mostMade    = 50_000
	bytesAVisit = 4 // of a set's encoding
)

// Now describes the round that the planner is in.
func Now(world plan.World) *v1.StatefulSetPlan {
	p := plan.Compute(world)
	shown := begin(world)
	l := &list{plan: shown}
	l.add(p)
	l.notNext(world)
	shown.Status = p.Status
	switch {
	case p.Status.Condition(v1.StatefulSetStalled).Status == corev1.ConditionTrue:
		end(shown, v1.PlanStuck, v1.StatefulSetStalled)
	case len(p.All()) == 0:
		conclude(shown, v1.PlanInProgress)
	default:
		end(shown, v1.PlanInProgress, v1.StatefulSetReady)
	}
	return shown
}

// Play describes all rounds from a world on. Before each it asks whether it is over, and
// if so returns the reason: a plan that nobody waits for any more is not finished.
func Play(world plan.World, over func() error) (*v1.StatefulSetPlan, error) {
	shown := begin(world)
	l := &list{plan: shown}
	h := newHost(world)
	for round := range max(mostVisits/visits(world), 1) {
		if err := over(); err != nil {
			return nil, err
		}
		p := plan.Compute(h.world())
		shown.Status = p.Status
		noted := !equality.Semantic.DeepEqual(h.Set.Status.Rollout, p.Status.Rollout)
		if err := h.carryOut(p); err != nil {
			return nil, err
		}
		happened := h.react(p)
		all := l.add(p)
		if round == 0 {
			l.notNext(world)
		}
		if !all || h.full() {
			break
		}
		l.then(happened)
		if len(p.All()) == 0 && len(happened) == 0 && !noted {
			conclude(shown, v1.PlanStuck)
			if shown.Outcome == v1.PlanStuck {
				l.notNext(h.world())
			}
			return shown, nil
		}
	}
	shown.Truncated = true
	end(shown, v1.PlanInProgress, v1.StatefulSetReady)
	return shown, nil
}

// visits is how much work a round is.
func visits(world plan.World) int {
	return 1 + len(world.Pods) + len(world.Claims) + MostActions + world.Set.Size()/bytesAVisit
}

func begin(world plan.World) *v1.StatefulSetPlan {
	shown := &v1.StatefulSetPlan{Rounds: []v1.PlanRound{}}
	shown.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("StatefulSetPlan"))
	shown.Name, shown.Namespace, shown.UID = world.Set.Name, world.Set.Namespace, world.Set.UID
	shown.ResourceVersion, shown.Generation = world.Set.ResourceVersion, world.Set.Generation
	return shown
}

// conclude says how a plan ends after whose last round nothing is left to do.
func conclude(shown *v1.StatefulSetPlan, otherwise v1.PlanOutcome) {
	ready := shown.Status.Condition(v1.StatefulSetReady)
	switch {
	case ready.Reason == v1.ReasonHeld:
		end(shown, v1.PlanHeld, v1.StatefulSetReady)
	case ready.Status == corev1.ConditionTrue:
		end(shown, v1.PlanConverged, v1.StatefulSetReady)
	case shown.Status.Condition(v1.StatefulSetStalled).Reason == v1.ReasonRolledBack:
		end(shown, v1.PlanConverged, v1.StatefulSetStalled) // that is what was wanted
	case shown.Status.Condition(v1.StatefulSetStalled).Status == corev1.ConditionTrue:
		end(shown, otherwise, v1.StatefulSetStalled)
	default:
		end(shown, otherwise, v1.StatefulSetReady)
	}
}

// end gives a plan its outcome, with the reason of a condition.
func end(shown *v1.StatefulSetPlan, outcome v1.PlanOutcome, because v1.StatefulSetConditionType) {
	condition := shown.Status.Condition(because)
	shown.Outcome, shown.Reason, shown.Message = outcome, condition.Reason, condition.Message
}
