// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// overrideOf is the override that is for a member, nil if there is none.
func (f evidence) overrideOf(ordinal int) *v1.MemberOverride {
	for i := range f.Set.Spec.Overrides {
		if isReserved(f.Set.Spec.Overrides[i].Ordinals, ordinal) {
			return &f.Set.Spec.Overrides[i]
		}
	}
	return nil
}

// dueShape is what the pod of a member is to have that the template does not describe.
func (f evidence) dueShape(ordinal int) string {
	override := f.overrideOf(ordinal)
	if override == nil {
		return plainShape
	}
	var env []corev1.EnvVar
	if tier := override.Values["TIER"]; tier != "" {
		env = append(env, corev1.EnvVar{Name: "TIER", Value: tier})
	}
	for _, container := range override.Containers {
		env = append(env, container.Env...)
	}
	return shapeText(override.NodeSelector, override.Labels["size"], env)
}

// shapeOf is what a pod has that the template does not describe, which has nothing of the kind
// but a variable MODE.
func shapeOf(pod *corev1.Pod) string {
	return shapeText(pod.Spec.NodeSelector, pod.Labels["size"], pod.Spec.Containers[0].Env)
}

func shapeText(nodeSelector map[string]string, size string, env []corev1.EnvVar) string {
	env = slices.DeleteFunc(slices.Clone(env), func(v corev1.EnvVar) bool {
		return v.Name == "MODE" || v.Name == "TIER" && v.Value == defaultTier || v.Name != "TIER" && isParameter(v.Name)
	})
	return fmt.Sprint(nodeSelector["disk"], "/", size, "/", env)
}

var plainShape = shapeText(nil, "", nil)

// isOtherwise reports whether a pod was made with another override than its member has now.
func (f evidence) isOtherwise(pod *corev1.Pod, ordinal int) bool {
	return shapeOf(pod) != f.dueShape(ordinal)
}

// isMountingOtherwise reports whether a wanted member is to be recreated because of what it
// mounts.
func (f evidence) isMountingOtherwise(ordinal int) bool {
	pod := f.member(ordinal)
	return pod != nil && f.followsTemplates() && f.wanted(ordinal) && f.rolls(ordinal) && f.mountsOtherwise(pod, ordinal)
}

// isOverridden reports whether a wanted member is to be recreated because of its override.
func (f evidence) isOverridden(ordinal int) bool {
	pod := f.member(ordinal)
	return pod != nil && f.wanted(ordinal) && f.rolls(ordinal) && f.isOtherwise(pod, ordinal)
}

// claimTemplate is a claim template as it is for a member.
func (f evidence) claimTemplate(i, ordinal int) *corev1.PersistentVolumeClaim {
	template := f.Set.Spec.VolumeClaimTemplates[i].DeepCopy()
	if override := f.overrideOf(ordinal); override != nil {
		for _, claim := range override.VolumeClaims {
			if claim.Name == template.Name && claim.Storage != nil {
				template.Spec.Resources.Requests[corev1.ResourceStorage] = *claim.Storage
			}
		}
	}
	return template
}

// overridden: a member is created as its override says, its claims too, and its pod notes that
// it is; who is removed for an override has another one.
func (j *judged) overridden() {
	for _, act := range planned[action.CreateMember](j) {
		due := j.dueShape(act.Ordinal)
		if got := shapeOf(act.Pod); got != due {
			j.broke("override of member", "pod %s is created as %s, want %s", act.Pod.Name, got, due)
		}
		if note := act.Pod.Annotations[v1.OverrideAnnotation]; (note == "") != (due == plainShape) {
			j.broke("noted override", "pod %s is created as %s with the note %q", act.Pod.Name, due, note)
		}
		for _, claim := range act.Claims {
			for i, template := range j.Set.Spec.VolumeClaimTemplates {
				want := j.claimTemplate(i, act.Ordinal).Spec.Resources.Requests.Storage()
				if claim.Name == j.claimName(template.Name, act.Ordinal) && claim.Spec.Resources.Requests.Storage().Cmp(*want) != 0 {
					j.broke("override of claim", "claim %s is created with %s, want %s", claim.Name, claim.Spec.Resources.Requests.Storage(), want)
				}
			}
		}
	}
	for _, act := range planned[action.DeletePod](j) {
		if act.Reason != action.DeleteForOverride {
			continue
		}
		name := ""
		if override := j.overrideOf(act.Ordinal); override != nil && j.dueShape(act.Ordinal) != plainShape {
			name = override.Name
		}
		if act.Override != name {
			j.broke("named override", "%s, and the member is to have %q", act, name)
		}
	}
}

// sameNote checks that the notes of pods tell overrides apart by what these say, and by nothing
// else.
func (j *judged) sameNote(notes map[string]string) {
	for _, act := range planned[action.CreateMember](j) {
		shape, note := shapeOf(act.Pod), act.Pod.Annotations[v1.OverrideAnnotation]
		if before, known := notes[shape]; known && before != note {
			j.broke("noted override", "a pod like %s has the note %q, and had %q", shape, note, before)
		}
		for other, taken := range notes {
			if other != shape && taken == note {
				j.broke("noted override", "pods like %s and like %s both have the note %q", shape, other, note)
			}
		}
		notes[shape] = note
	}
}
