// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// overrideMutants are wrong in how members follow their overrides.
func overrideMutants() map[string]mutant {
	// removing also removes members that are to stay.
	removing := func(which func(evidence, *corev1.Pod, int) bool) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			f := gather(w)
			for _, ordinal := range f.ordinals {
				pod := f.member(ordinal)
				if len(f.Set.Spec.Overrides) > 0 && pod != nil && pod.DeletionTimestamp == nil && !isRemoved(p, pod) && which(f, pod, ordinal) {
					p = also(p, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteForOverride})
				}
			}
			return p
		}
	}
	return map[string]mutant{
		"creates members without their overrides": {"override of member", func(w World, p Plan) Plan {
			plain := w.Set.DeepCopy()
			plain.Spec.Overrides = nil
			return each(func(a action.CreateMember) []action.Action {
				if a.Pod.Labels[identity.RevisionLabel] == p.Status.UpdateRevision {
					a.Pod = identity.Pod(plain, &plain.Spec.Template, p.Status.UpdateRevision, a.Ordinal)
				}
				return []action.Action{a}
			})(w, p)
		}},
		"creates claims without their overrides": {"override of claim", func(w World, p Plan) Plan {
			return each(func(a action.CreateMember) []action.Action {
				a.Claims = copies(a.Claims)
				for _, claim := range a.Claims {
					claim.Spec.Resources.Requests = w.Set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests
				}
				return []action.Action{a}
			})(w, p)
		}},
		"does not note overrides in pods": {"noted override", each(func(a action.CreateMember) []action.Action {
			a.Pod = a.Pod.DeepCopy()
			delete(a.Pod.Annotations, v1.OverrideAnnotation)
			return []action.Action{a}
		})},
		"notes the names of overrides": {"noted override", func(w World, p Plan) Plan {
			f := gather(w)
			return each(func(a action.CreateMember) []action.Action {
				if override := f.overrideOf(a.Ordinal); override != nil && f.dueShape(a.Ordinal) != plainShape {
					a.Pod = a.Pod.DeepCopy()
					a.Pod.Annotations[v1.OverrideAnnotation] = override.Name
				}
				return []action.Action{a}
			})(w, p)
		}},
		"recreates members that are as their overrides say": {
			"reason to delete", removing(func(f evidence, pod *corev1.Pod, ordinal int) bool { return !f.isOtherwise(pod, ordinal) })},
		"recreates below the partition for overrides": {"reason to delete", removing(func(f evidence, pod *corev1.Pod, ordinal int) bool {
			return f.isOtherwise(pod, ordinal) && !f.rolls(ordinal)
		})},
		"leaves members with earlier overrides": {
			"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteForOverride) })},
		"says a wrong override": {
			"named override", each(func(a action.DeletePod) []action.Action { a.Override = ""; return []action.Action{a} })},
	}
}
