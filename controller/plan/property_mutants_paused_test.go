// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// pausedMutants are wrong in what a pause keeps from happening.
func pausedMutants() map[string]mutant {
	return map[string]mutant{
		"updates although it is paused": {"paused", func(w World, p Plan) Plan { return doing(p, unpaused(w)) }},
		"does not say whom it has reached": {
			"tracking", onTracked(func(_ World, p Plan, _ *v1.RolloutStatus) Plan { p.Status.Rollout = nil; return p })},
		"takes others for reached": {
			"released", onTracked(func(w World, p Plan, r *v1.RolloutStatus) Plan { r.Released = []v1.OrdinalRange{{First: 50}}; return p })},
		"creates members of a pause updated": {"tracked creation", onTracked(func(w World, p Plan, _ *v1.RolloutStatus) Plan {
			return each(func(a action.CreateMember) []action.Action {
				a.Pod = identity.Pod(w.Set, &w.Set.Spec.Template, p.Status.UpdateRevision, a.Ordinal)
				return []action.Action{a}
			})(w, p)
		})},
		"is ready while it is paused": {"ready", func(w World, p Plan) Plan {
			if gather(w).isPaused() {
				return alwaysReady(w, p)
			}
			return p
		}},
	}
}

// onTracked changes the plans of updates that are paused.
func onTracked(change func(World, Plan, *v1.RolloutStatus) Plan) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		if !gather(w).isPaused() || p.Status.Rollout == nil {
			return p
		}
		p.Status.Rollout = p.Status.Rollout.DeepCopy()
		return change(w, p, p.Status.Rollout)
	}
}

// createsAsBefore creates every member at the current revision.
func createsAsBefore(w World, p Plan, _ *v1.RolloutStatus) Plan {
	return each(func(a action.CreateMember) []action.Action {
		a.Pod = a.Pod.DeepCopy()
		a.Pod.Labels[identity.RevisionLabel] = w.Set.Status.CurrentRevision
		return []action.Action{a}
	})(w, p)
}

// unpaused is the plan of the set as if it were not paused.
func unpaused(w World) Plan {
	w.Set = w.Set.DeepCopy()
	if rolling := w.Set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		rolling.Paused = nil
	}
	return Compute(w)
}
