// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
)

// orderMutants are wrong in which members they change before which.
func orderMutants() map[string]mutant {
	return map[string]mutant{
		"updates from the highest ordinal whatever was asked for": {"update order", inOrder(func(o *v1.UpdateOrder) { o.Direction = v1.DescendingUpdateDirectionType })},
		"updates from the lowest ordinal unasked": {"update order", func(w World, p Plan) Plan {
			if f := gather(w); f.strategy() != v1.RollingUpdateStatefulSetStrategyType || f.reorders() {
				return p
			}
			strategy := *w.Set.Spec.UpdateStrategy.DeepCopy()
			if strategy.RollingUpdate == nil {
				strategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{}
			}
			strategy.RollingUpdate.Order = &v1.UpdateOrder{Direction: v1.AscendingUpdateDirectionType}
			return under(w, p, strategy)
		}},
		"has no canaries":                        {"update order", inOrder(func(o *v1.UpdateOrder) { o.First = nil })},
		"takes canaries in the order of ordinal": {"update order", inOrder(func(o *v1.UpdateOrder) { slices.Reverse(o.First) })},
		"takes the leader with the others":       {"barrier", inOrder(func(o *v1.UpdateOrder) { o.Last = nil })},
		"remembers who led last": {"barrier", func(w World, p Plan) Plan {
			if !gather(w).reorders() {
				return p
			}
			w.Pods = copies(w.Pods)
			for _, pod := range w.Pods {
				delete(pod.Labels, "role")
			}
			return doing(p, Compute(w))
		}},
		"takes the leader as soon as the others are removed": {"barrier", func(w World, p Plan) Plan {
			f := gather(w)
			j := &judged{evidence: f, plan: p}
			for _, ordinal := range f.ordinals {
				pod := f.member(ordinal)
				if other := j.waitsFor(ordinal); f.reorders() && other >= 0 && !f.serves(other) && j.isOutdated(ordinal) && pod.DeletionTimestamp == nil && !isRemoved(p, pod) {
					p = also(p, DeletePod{Ordinal: ordinal, Pod: exact(pod), Reason: DeleteForUpdate})
				}
			}
			return p
		}},
		"never takes the leader": {"converge", each(func(a DeletePod) []Action { return only(a, a.Turn == "" || a.Turn == "first") })},
		"counts the partition in the order of the update": {"reason to delete", func(w World, p Plan) Plan {
			f := gather(w)
			if !f.reorders() {
				return p
			}
			below := func(ordinal int) bool { return f.earliness(ordinal) == 0 && !f.isAbovePartition(ordinal) }
			return also(p, slices.DeleteFunc(outdatedRemoved(f, p, below), func(a Action) bool {
				removal, ok := a.(DeletePod)
				return !ok || isRemoved(p, f.pods[removal.Pod.Name])
			})...)
		}},
	}
}

// inOrder is the planner of a set that asks for another order.
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
