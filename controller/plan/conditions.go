// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity/conditions"
)

// workState is the open work of a set, and what blocks it. The conditions report both.
type workState struct {
	// open is the work that remains, stalled is what blocks it, and overdue is that it takes too
	// long; each is nil if it does not apply.
	open, stalled, overdue *reason
	// recreating is the condition Progressing of an update that recreates all pods at once, nil if
	// there is none.
	recreating *conditions.Condition
}

// conditionsOf describes the state of the set.
func conditionsOf(f *facts, state workState) (c conditions.Conditions) {
	open, stalled := state.open, state.stalled
	c.Available = availableCondition(f)
	switch {
	case f.suspended && f.world.Set.DeletionTimestamp == nil:
		suspended := &reason{v1.ReasonHeld, f.suspendedMessage()}
		c.Ready, c.Progressing = suspended.condition(corev1.ConditionUnknown), suspended.condition(corev1.ConditionUnknown)
		c.Reconciling, c.Stalled = suspended.condition(corev1.ConditionFalse), suspended.condition(corev1.ConditionFalse)
		return c
	case open == nil:
		done := &reason{
			v1.ReasonMembersAvailable, fmt.Sprintf("%d of %d members are available", f.roster.Len(), f.roster.Len()) + f.outdatedText()}
		c.Ready = done.condition(corev1.ConditionTrue)
		c.Progressing, c.Reconciling = done.condition(corev1.ConditionTrue), done.condition(corev1.ConditionFalse)
	case stalled != nil:
		c.Ready, c.Progressing = open.condition(corev1.ConditionFalse), first(state.overdue, stalled).condition(corev1.ConditionFalse)
		c.Reconciling = stalled.condition(corev1.ConditionFalse)
	default:
		c.Ready = open.condition(corev1.ConditionFalse)
		c.Progressing, c.Reconciling = open.condition(corev1.ConditionTrue), open.condition(corev1.ConditionTrue)
		if isForPeople(open.word) {
			c.Progressing.Status = corev1.ConditionUnknown // people decide how long this takes
		}
	}
	if stalled != nil && open != nil {
		c.Stalled = stalled.condition(corev1.ConditionTrue)
	} else {
		c.Stalled = (&reason{v1.ReasonNotStalled, "nothing blocks the controller"}).condition(corev1.ConditionFalse)
	}
	if state.recreating != nil && state.overdue == nil {
		c.Progressing = *state.recreating
	}
	return c
}

// condition returns the condition that a reason stands for, with a status.
func (r *reason) condition(status corev1.ConditionStatus) conditions.Condition {
	return conditions.Condition{Status: status, Reason: r.word, Message: r.message}
}

func first(reasons ...*reason) *reason {
	for _, r := range reasons {
		if r != nil {
			return r
		}
	}
	return nil
}

// openWork is the work that remains until the set is as the user wants it, nil if none remains.
func openWork(f *facts, d *draft) *reason {
	available, wanted, existing := f.available, f.roster.Len(), f.existing()
	word, growing, paused := "", f.growing(), f.pausedText()
	stepWord, stepText := f.stepState()
	object, exposed := f.supporting.openObject(), f.exposedText()
	switch {
	case f.world.Set.DeletionTimestamp != nil, d.stalled != nil, f.awaiting != nil:
		return unsyncedWork(f, d)
	case stepWord == v1.ReasonRollingBack:
		word = v1.ReasonRollingBack
	case f.toUpdate() > 0:
		word = v1.ReasonUpdating
	case existing < wanted:
		word = v1.ReasonCreatingMembers
	case len(f.condemned) > 0:
		word = v1.ReasonRemovingMembers
	case f.replacing():
		word = v1.ReasonReplacingMembers
	case available < wanted:
		word = v1.ReasonWaitingForMembers
	case growing != "":
		word = v1.ReasonGrowingClaims
	case paused != "":
		word = v1.ReasonPaused
	case stepWord != "":
		word = stepWord
	case object != "":
		word = v1.ReasonWaitingForObjects
	case exposed != "":
		word = v1.ReasonChangingClaimOwners
	default:
		return nil
	}
	return &reason{d.orGate(word),
		joined(fmt.Sprintf("%d of %d members are available", available, wanted), d.waiting, exposed, growing, paused, stepText, object)}
}

// unsyncedWork is the work that remains for a set whose members are not synced, nil if none
// remains.
func unsyncedWork(f *facts, d *draft) *reason {
	switch {
	case f.world.Set.DeletionTimestamp != nil:
		return &reason{v1.ReasonDeleting, "the set is being deleted"}
	case d.stalled != nil:
		return d.stalled
	case d.waiting != "":
		return &reason{v1.ReasonWaitingForRevisions, d.waiting}
	default:
		return nil
	}
}

// joined joins parts into a message, without the empty ones. It leaves out the last part if another
// part ends with it.
func joined(parts ...string) string {
	last := len(parts) - 1
	if slices.ContainsFunc(parts[:last], func(part string) bool { return strings.HasSuffix(part, parts[last]) }) {
		parts = parts[:last]
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "; ")
}

// orGate is the reason to report instead of a word for open work, if an object must exist first or
// a gate has yet to agree.
func (d *draft) orGate(word string) string {
	if d.objectWord != "" && (word == v1.ReasonCreatingMembers || word == v1.ReasonUpdating || word == v1.ReasonReplacingMembers) {
		return d.objectWord
	}
	if d.atGate && (word == v1.ReasonUpdating || word == v1.ReasonRemovingMembers || word == v1.ReasonReplacingMembers) {
		return v1.ReasonWaitingForGate
	}
	return word
}

// existing is the number of desired members that have a pod.
func (f *facts) existing() (count int) {
	for _, m := range f.members {
		if m.pod != nil {
			count++
		}
	}
	return count
}

// toUpdate is the number of members whose pods the controller still has to update or replace.
func (f *facts) toUpdate() int {
	count := 0
	for _, m := range f.members {
		if _, how := f.target(m); how != keep {
			count++
		}
	}
	return count
}

// availableCondition is the condition Available. It is True if no more members are unavailable than
// an update may make unavailable, and if at least one is available, if any is desired.
func availableCondition(f *facts) conditions.Condition {
	available := f.available
	needed := max(f.roster.Len()-f.maxUnavailable(), min(f.roster.Len(), 1))
	message := fmt.Sprintf("%d of %d members are available, and at least %d must be", available, f.roster.Len(), needed)
	if available >= needed {
		return conditions.Condition{Status: corev1.ConditionTrue, Reason: v1.ReasonMinimumReplicasAvailable, Message: message}
	}
	message += "; unavailable: " + f.namesOfUnavailable()
	return conditions.Condition{Status: corev1.ConditionFalse, Reason: v1.ReasonMinimumReplicasUnavailable, Message: message}
}

// unavailableText names members that are not available, empty if there are none.
func (f *facts) unavailableText() string {
	if f.available == f.roster.Len() {
		return ""
	}
	return fmt.Sprintf("; %d of %d members are available; unavailable: %s", f.available, f.roster.Len(), f.namesOfUnavailable())
}

// namesOfUnavailable lists the unavailable members of the lowest ordinals.
func (f *facts) namesOfUnavailable() string {
	var names []string
	for _, m := range f.members {
		if f.isUnavailable(m) && len(names) < words.FewNames {
			names = append(names, f.podName(m))
		}
	}
	text := strings.Join(names, ", ")
	if more := f.roster.Len() - f.available - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
