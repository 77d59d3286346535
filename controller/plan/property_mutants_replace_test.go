// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// replaceMutants are wrong in how they follow requests to replace members.
func replaceMutants() map[string]mutant {
	return map[string]mutant{
		"replaces members that nobody asked to be replaced": {
			"reason to delete", alsoReplacing(func(f evidence, _ int, pod *corev1.Pod) bool { return !f.asked(pod) })},
		"replaces what an ordered set cannot spare": {"predecessor", func(w World, p Plan) Plan {
			if f := gather(w); !f.ordered() {
				return p
			}
			return alsoReplacing(func(f evidence, ordinal int, pod *corev1.Pod) bool { return f.serves(ordinal) && f.asked(pod) })(w, p)
		}},
		"forgets to replace": {"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteOnRequest) })},
		"forgets the requests": {"replacements", func(_ World, p Plan) Plan {
			p.Status.Replacements = nil
			return p
		}},
		"keeps requests whose pods are gone": {"replacements", func(w World, p Plan) Plan {
			p.Status.Replacements = w.Set.Status.Replacements
			return p
		}},
		"is ready while members are to be replaced": {"ready", func(w World, p Plan) Plan {
			for _, condition := range p.Status.Conditions {
				if condition.Reason == v1.ReasonReplacingMembers {
					return alwaysReady(w, p)
				}
			}
			return p
		}},
	}
}

// replacesAnother replaces whatever pod a member has that is to be replaced.
func replacesAnother(w World, p Plan) Plan {
	named := map[int]bool{}
	for _, request := range w.Set.Status.Replacements {
		named[int(request.Ordinal)] = true
	}
	return alsoReplacing(func(_ evidence, ordinal int, _ *corev1.Pod) bool { return named[ordinal] })(w, p)
}

// alsoReplacing also removes the pods of wanted members that are chosen.
func alsoReplacing(which func(f evidence, ordinal int, pod *corev1.Pod) bool) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		f := gather(w)
		for _, ordinal := range f.ordinals {
			if pod := f.member(ordinal); pod != nil && pod.DeletionTimestamp == nil && !isRemoved(p, pod) && which(f, ordinal, pod) {
				p = also(p, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteOnRequest})
			}
		}
		return p
	}
}

// replacesLowestFirst turns the order of requests to replace members around.
func replacesLowestFirst(w World, p Plan) Plan {
	f := gather(w)
	return each(func(a action.DeletePod) []action.Action {
		for _, ordinal := range f.ordinals {
			if pod := f.member(ordinal); a.Reason == action.DeleteOnRequest && f.serves(ordinal) && f.asked(pod) {
				a.Ordinal, a.Pod = ordinal, action.Exact(pod)
				break
			}
		}
		return []action.Action{a}
	})(w, p)
}
