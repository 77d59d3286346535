// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// orderMutants are wrong in which members they change before which.
func orderMutants() map[string]mutant {
	return map[string]mutant{
		"takes the leader as soon as the others are removed": {"barrier", func(w World, p Plan) Plan {
			f := gather(w)
			j := &judged{evidence: f, plan: p}
			for _, ordinal := range f.ordinals {
				pod := f.member(ordinal)
				if other := j.waitsFor(ordinal); f.reorders() && other >= 0 && !f.serves(other) && j.isOutdated(ordinal) &&
					pod.DeletionTimestamp == nil && !isRemoved(p, pod) {
					p = also(p, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteForUpdate})
				}
			}
			return p
		}},
		"never takes the leader": {
			"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Turn == "" || a.Turn == "first") })},
		"counts the partition in the order of the update": {"reason to delete", func(w World, p Plan) Plan {
			f := gather(w)
			if !f.reorders() {
				return p
			}
			below := func(ordinal int) bool { return f.earliness(ordinal) == 0 && !f.isAbovePartition(ordinal) }
			return also(p, slices.DeleteFunc(outdatedRemoved(f, p, below), func(a action.Action) bool {
				removal, ok := a.(action.DeletePod)
				return !ok || isRemoved(p, f.pods[removal.Pod.Name])
			})...)
		}},
	}
}

// addChain is the planner of a set that asks for another order.
func inOrder(change func(*v1.UpdateOrder)) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		if !gather(w).reorders() {
			return p
		}
		w.Set = w.Set.DeepCopy()
		change(w.Set.Spec.UpdateStrategy.RollingUpdate.Order)
		return doing(p, Compute(w))
	}
}
