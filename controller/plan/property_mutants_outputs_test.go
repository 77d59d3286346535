// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity/render"
)

// outputMutants are wrong in what pods get of objects, and when.
func outputMutants() map[string]scripted {
	created := func(change func(*corev1.Pod)) func(World, Plan) Plan {
		return each(func(a action.CreateMember) []action.Action {
			a.Pod = a.Pod.DeepCopy()
			change(a.Pod)
			return []action.Action{a}
		})
	}
	// given takes objects to give something that do not.
	given := func(w World, p Plan) Plan {
		w.Objects = copiesOfObjects(w.Objects)
		for _, object := range w.Objects {
			object.Outputs = map[string]render.Output{"ADDRESS": {}, "VIP": {}}
		}
		return doing(p, Compute(w))
	}
	return map[string]scripted{
		"creates pods before objects give what they name": {"outputs-late", mutant{"outputs", given}},
		"removes pods before objects give what is named":  {"outputs-update", mutant{"outputs of successors", given}},
		"gives pods nothing": {
			"outputs-late", mutant{"outputs", created(func(pod *corev1.Pod) { delete(pod.Annotations, outputNote+"ADDRESS") })}},
		"gives pods what others have": {
			"outputs-late", mutant{"outputs", created(func(pod *corev1.Pod) { pod.Annotations[outputNote+"ADDRESS"] = "10.0.0.99" })}},
		"gives pods what they do not name": {"objects-life", mutant{"outputs", created(func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{outputNote + "ADDRESS": "10.0.0.1"}
		})}},
		"takes what an object gives that is to change": {"outputs-changed", mutant{"outputs of successors", func(w World, p Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			for _, object := range w.Objects {
				object.Drifted, object.Settled = false, settledAs(w, object)
			}
			return doing(p, Compute(w))
		}}},
	}
}

// settledAs are the inputs of the object of the first member, as the set has it.
func settledAs(w World, object *Object) string {
	f := survey(w, &reader{})
	for _, s := range f.supporting.places {
		if s.found == object {
			return s.template.Digest(s.ordinal)
		}
	}
	return ""
}
