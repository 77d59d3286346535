// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// freshVerdict is for how long it is not forgotten what somebody says of a pod that is about to be
// changed: whoever says it again at once would otherwise keep the change from being made. If
// containers are restarted, it is forgotten afterwards.
const freshVerdict = time.Minute

// asksConditions reports whether the update is at or before a step that asks for pod
// conditions. Whoever wrote those of a pod did so for the revision that it had.
func (f *facts) asksConditions() bool {
	return len(f.conditionsAsked()) > 0
}

// conditionsAsked are the types of the pod conditions that the present step of the update asks for,
// and those that are to come.
func (f *facts) conditionsAsked() (kinds []corev1.PodConditionType) {
	if f.rollout == nil || !f.rollout.at.inSteps {
		return nil
	}
	for _, step := range f.steps()[f.rollout.at.number-1:] {
		for _, name := range step.PodConditions {
			if kind := corev1.PodConditionType(name); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// verdictsUntil are the conditions by which what was said of the pod of a member until a time is
// forgotten. The update, which waits for the conditions, would take it for said of its revision.
func (f *facts) verdictsUntil(m member, until time.Time) (forgotten []corev1.PodCondition) {
	if f.goal(m) != f.update {
		return nil
	}
	for _, kind := range f.conditionsAsked() {
		if c := conditionOf(m.pod, kind); c != nil && c.Status != corev1.ConditionUnknown && !c.LastTransitionTime.After(until) {
			forgotten = append(forgotten, f.condition(kind, corev1.ConditionUnknown, v1.ReasonRevisionChanged))
		}
	}
	return forgotten
}

// atEnd are the conditions that a pod gets when its containers have been restarted: it is in
// service again, and what was said of it before is forgotten.
func (f *facts) atEnd(m member, note inPlaceNote) []corev1.PodCondition {
	conditions := f.verdictsUntil(m, latest(note.begun(), note.lastStart(m.pod)))
	if isOutOfService(m.pod) {
		conditions = append(conditions, f.inService())
	}
	return conditions
}
