// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// setConditions says in words where the set stands. Conditions of types that are
// not the controller's stay as they are. Messages give times, not durations: a
// duration would be another one at every look, and each would be written.
func (p *planner) setConditions(status *v1.StatefulSetStatus) {
	say := func(kind v1.StatefulSetConditionType, is corev1.ConditionStatus, why reason) {
		set(status, p.Now, v1.StatefulSetCondition{Type: kind, Status: is, Reason: why.word, Message: why.message})
	}
	open := p.openWork()
	stalled := p.stalled
	p.noteProgress(status, open)
	overdue := p.overdue(status, open)
	if stalled == nil {
		stalled = overdue
	}

	serves, enough := p.servesEnough()
	say(v1.StatefulSetAvailable, serves, enough)
	switch {
	case p.held && p.Set.DeletionTimestamp == nil:
		held := reason{v1.ReasonHeld, p.holdMessage()}
		say(v1.StatefulSetReady, corev1.ConditionUnknown, held)
		say(v1.StatefulSetProgressing, corev1.ConditionUnknown, held)
		say(v1.StatefulSetReconciling, corev1.ConditionFalse, held)
		say(v1.StatefulSetStalled, corev1.ConditionFalse, held)
		return
	case open == nil:
		done := reason{v1.ReasonMembersAvailable, fmt.Sprintf("%d of %d members are available", p.wanted, p.wanted)}
		say(v1.StatefulSetReady, corev1.ConditionTrue, done)
		say(v1.StatefulSetProgressing, corev1.ConditionTrue, done)
		say(v1.StatefulSetReconciling, corev1.ConditionFalse, done)
	case stalled != nil:
		say(v1.StatefulSetReady, corev1.ConditionFalse, *open)
		say(v1.StatefulSetProgressing, corev1.ConditionFalse, *first(overdue, stalled))
		say(v1.StatefulSetReconciling, corev1.ConditionFalse, *stalled)
	default:
		say(v1.StatefulSetReady, corev1.ConditionFalse, *open)
		say(v1.StatefulSetProgressing, corev1.ConditionTrue, *open)
		say(v1.StatefulSetReconciling, corev1.ConditionTrue, *open)
	}
	if stalled != nil && open != nil {
		say(v1.StatefulSetStalled, corev1.ConditionTrue, *stalled)
	} else {
		say(v1.StatefulSetStalled, corev1.ConditionFalse, reason{v1.ReasonNoObstacle, "nothing keeps the controller from going on"})
	}
	if recreating, ok := p.recreating(); ok && overdue == nil {
		set(status, p.Now, recreating)
	}
}

func first(reasons ...*reason) *reason {
	for _, r := range reasons {
		if r != nil {
			return r
		}
	}
	return nil
}

// openWork says what remains to be done until the set is as the user wants it,
// nil if nothing does.
func (p *planner) openWork() *reason {
	available, existing := p.available, 0
	for _, m := range p.members {
		if m.pod != nil {
			existing++
		}
	}
	word := ""
	switch {
	case p.Set.DeletionTimestamp != nil:
		return &reason{v1.ReasonDeleting, "the set is being deleted"}
	case p.stalled != nil:
		return p.stalled
	case p.awaiting != nil:
		return p.waiting
	case p.toUpdate() > 0:
		word = v1.ReasonUpdating
	case existing < p.wanted:
		word = v1.ReasonCreatingMembers
	case len(p.condemned) > 0:
		word = v1.ReasonRemovingMembers
	case available < p.wanted:
		word = v1.ReasonWaitingForMembers
	default:
		return nil
	}
	message := fmt.Sprintf("%d of %d members are available", available, p.wanted)
	if p.waiting != nil {
		message += "; " + p.waiting.message
	}
	return &reason{word, message}
}

// toUpdate is the number of members that the controller still has to bring to the
// present revision.
func (p *planner) toUpdate() int {
	if p.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType {
		return 0
	}
	return len(p.updatable())
}

// servesEnough reports whether no more members are unavailable than an update may
// make so, and whether at least one serves, if any is wanted.
func (p *planner) servesEnough() (corev1.ConditionStatus, reason) {
	available := p.available
	needed := max(p.wanted-p.maxUnavailable(), min(p.wanted, 1))
	message := fmt.Sprintf("%d of %d members are available, and at least %d must be", available, p.wanted, needed)
	if available >= needed {
		return corev1.ConditionTrue, reason{v1.ReasonMinimumAvailable, message}
	}
	return corev1.ConditionFalse, reason{v1.ReasonMinimumUnavailable, message + "; unavailable: " + p.namesOfUnavailable()}
}

// fewNames is how many names a message lists.
const fewNames = 3

// namesOfUnavailable lists the unavailable members of the lowest ordinals.
func (p *planner) namesOfUnavailable() string {
	var names []string
	for _, m := range p.members {
		if p.unavailable(m) && len(names) < fewNames {
			names = append(names, p.podName(m))
		}
	}
	text := strings.Join(names, ", ")
	if more := p.wanted - p.available - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func findCondition(status *v1.StatefulSetStatus, kind v1.StatefulSetConditionType) *v1.StatefulSetCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == kind {
			return &status.Conditions[i]
		}
	}
	return nil
}

// set puts a condition in the place of the one of its type. The time of the last
// transition moves only when the status does.
func set(status *v1.StatefulSetStatus, now time.Time, next v1.StatefulSetCondition) {
	next.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	before := findCondition(status, next.Type)
	if before == nil {
		status.Conditions = append(status.Conditions, next)
		return
	}
	if before.Status == next.Status {
		next.LastTransitionTime = before.LastTransitionTime
	}
	*before = next
}
