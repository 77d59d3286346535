// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	"statefulset.dev/controller/plan/action"
)

// budgetMutants are wrong in how they mind budgets when they change pods in place.
func budgetMutants() map[string]scripted {
	return map[string]scripted{
		"drains without asking budgets": {"evict-inplace-drain",
			mutant{"asks budgets", each(func(a action.SetPodConditions) []action.Action { a.AsBudgetsAllow = false; return []action.Action{a} })}},
		"resizes without asking budgets": {"evict-inplace-resize",
			mutant{"asks budgets", each(func(a action.ResizePod) []action.Action { a.AsBudgetsAllow = false; return []action.Action{a} })}},
		"forgets that a resize restarts": {
			"evict-inplace-resize", mutant{"asks budgets", notesOf(func(note map[string]any) { delete(note, "resizeRestarts") })}},
		"asks budgets about the drained": {"evict-inplace-drain",
			mutant{"asks budgets", each(func(a action.UpdateInPlace) []action.Action { a.AsBudgetsAllow = true; return []action.Action{a} })}},
		"asks budgets about labels": {"evict-inplace",
			mutant{"asks budgets", each(func(a action.UpdateInPlace) []action.Action { a.AsBudgetsAllow = true; return []action.Action{a} })}},
		"takes more than budgets know of": {"evict-inplace-parallel", mutant{"one unseen", func(w World, p Plan) Plan {
			w.Pods = copies(w.Pods)
			for _, pod := range w.Pods {
				if isUnseen(pod) {
					pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
				}
			}
			return doing(p, Compute(w))
		}}},
	}
}
