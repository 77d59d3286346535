// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// freshVerdict is how recent a result in a condition of a pod must be to stay when the pod is about
// to be changed: a program that sets its result again at once would otherwise block the change. If
// containers are restarted, the result is reset afterwards.
const freshVerdict = time.Minute

// asksConditions reports whether the update is at or before a step that requires pod conditions.
// The conditions of a pod are results for the revision that it had.
func (f *facts) asksConditions() bool {
	return len(f.conditionsAsked()) > 0
}

// conditionsAsked are the types of the pod conditions that the current step of the update and later
// steps require.
func (f *facts) conditionsAsked() (kinds []corev1.PodConditionType) {
	if f.rollout == nil || !f.rollout.progress.inSteps {
		return nil
	}
	for _, step := range f.steps()[f.rollout.progress.number-1:] {
		for _, name := range step.PodConditions {
			if kind := corev1.PodConditionType(name); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// verdictsUntil are the conditions that reset the results for the pod of a member up to a time to
// Unknown. Otherwise the update, which waits for the conditions, would take them for results about
// its revision.
func (f *facts) verdictsUntil(m member, until time.Time) (forgotten []corev1.PodCondition) {
	if f.targetRevision(m) != f.update {
		return nil
	}
	for _, kind := range f.conditionsAsked() {
		if c := conditionOf(m.pod, kind); c != nil && c.Status != corev1.ConditionUnknown && !c.LastTransitionTime.After(until) {
			forgotten = append(forgotten, f.condition(kind, corev1.ConditionUnknown, v1.ReasonRevisionChanged))
		}
	}
	return forgotten
}

// atEnd are the conditions that a pod gets after its containers were restarted: it is in service
// again, and earlier results are reset.
func (f *facts) atEnd(m member, note inPlaceNote) []corev1.PodCondition {
	conditions := f.verdictsUntil(m, latest(note.begun(), note.lastStart(m.pod)))
	if isOutOfService(m.pod) {
		conditions = append(conditions, f.inService())
	}
	return conditions
}
