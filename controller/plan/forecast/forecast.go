// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package forecast shows plans to people. Now describes what the planner does in a world. Play
// runs the planner repeatedly, and a cluster in memory carries out the plans, until nothing is
// left to do, nothing makes progress, or a limit is reached.
//
// The cluster in memory is optimistic: pods start and become available, terminating pods
// disappear, and claims are deleted with the pods that own them. But a pod of the world that
// cannot start now (no node, no image, a container that keeps exiting) does not start in the
// forecast either, and neither does a pod whose claims do not exist.
package forecast

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// The limits of a plan: how many rounds and actions it lists, how many claims its actions name,
// and how many members it lists in each of two rounds.
const (
	MostRounds  = 500
	MostActions = 2000
	MostClaims  = 10_000
	MostMembers = 100
)

// mostVisits bounds the work: each round visits every member and claim, and encodes the
// template. A set of 1,000 members with one claim each still has 500 rounds. mostMade bounds the
// memory: how many more objects, volumes and labels than the world the cluster in memory has.
const (
	mostVisits  = 2_000_000
	mostMade    = 50_000
	bytesAVisit = 4 // of a set's encoding
)

// Now describes the current round of the planner.
func Now(world plan.World) *v1.StatefulSetPlan {
	p := plan.Compute(world)
	shown := begin(world)
	l := &list{plan: shown}
	l.add(p)
	l.addDelayed(world)
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

// Play describes all rounds from a world on. Before each round it calls over, and returns the error
// of over if there is one: a plan is not finished if its client no longer waits.
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
			l.addDelayed(world)
		}
		if !all || h.full() {
			break
		}
		l.then(happened)
		if len(p.All()) == 0 && len(happened) == 0 && !noted {
			conclude(shown, v1.PlanStuck)
			if shown.Outcome == v1.PlanStuck {
				l.addDelayed(h.world())
			}
			return shown, nil
		}
	}
	shown.Truncated = true
	end(shown, v1.PlanInProgress, v1.StatefulSetReady)
	return shown, nil
}

// visits measures the work of a round.
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

// conclude sets the outcome of a plan after whose last round nothing is left to do.
func conclude(shown *v1.StatefulSetPlan, otherwise v1.PlanOutcome) {
	ready := shown.Status.Condition(v1.StatefulSetReady)
	switch {
	case ready.Reason == v1.ReasonHeld:
		end(shown, v1.PlanHeld, v1.StatefulSetReady)
	case ready.Status == corev1.ConditionTrue:
		end(shown, v1.PlanConverged, v1.StatefulSetReady)
	case shown.Status.Condition(v1.StatefulSetStalled).Reason == v1.ReasonRolledBack:
		end(shown, v1.PlanConverged, v1.StatefulSetStalled) // the rollback was requested
	case shown.Status.Condition(v1.StatefulSetStalled).Status == corev1.ConditionTrue:
		end(shown, otherwise, v1.StatefulSetStalled)
	default:
		end(shown, otherwise, v1.StatefulSetReady)
	}
}

// end sets the outcome of a plan, with the reason and message of a condition.
func end(shown *v1.StatefulSetPlan, outcome v1.PlanOutcome, because v1.StatefulSetConditionType) {
	condition := shown.Status.Condition(because)
	shown.Outcome, shown.Reason, shown.Message = outcome, condition.Reason, condition.Message
}
