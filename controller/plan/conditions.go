// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// setConditions says in words where the set stands. Conditions of types that are
// not the controller's stay as they are.
func (p *planner) setConditions(status *v1.StatefulSetStatus) {
	now := p.Now
	if open := p.openWork(); open != nil {
		set(status, now, condition(v1.StatefulSetReady, corev1.ConditionFalse, open.word, open.message))
		set(status, now, condition(v1.StatefulSetReconciling, corev1.ConditionTrue, open.word, open.message))
	} else {
		message := fmt.Sprintf("%d of %d members are available", p.wanted, p.wanted)
		set(status, now, condition(v1.StatefulSetReady, corev1.ConditionTrue, "MembersAvailable", message))
		set(status, now, condition(v1.StatefulSetReconciling, corev1.ConditionFalse, "MembersAvailable", message))
	}
	if p.stalled != nil {
		set(status, now, condition(v1.StatefulSetStalled, corev1.ConditionTrue, p.stalled.word, p.stalled.message))
	} else {
		set(status, now, condition(v1.StatefulSetStalled, corev1.ConditionFalse, "NoObstacle", "nothing keeps the controller from going on"))
	}
	if p.progressing != nil {
		set(status, now, *p.progressing)
	}
}

// openWork says what remains to be done until the set is as the user wants it,
// nil if nothing does.
func (p *planner) openWork() *reason {
	available, existing := p.available(), 0
	for _, m := range p.members {
		if m.pod != nil {
			existing++
		}
	}
	word := ""
	switch {
	case p.Set.DeletionTimestamp != nil:
		return &reason{"Deleting", "the set is being deleted"}
	case p.stalled != nil:
		return p.stalled
	case p.toUpdate() > 0:
		word = "Updating"
	case existing < p.wanted:
		word = "CreatingMembers"
	case len(p.condemned) > 0:
		word = "RemovingMembers"
	case available < p.wanted:
		word = "WaitingForMembers"
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

// Failure is an action that the host cluster did not carry out.
type Failure struct {
	Action Action
	Err    error
}

// WithFailures is what a status becomes when actions of its plan have failed. The
// set is stalled if the host understood the request and refused it, because then
// somebody has to change something; it is not if the host was merely in trouble.
func WithFailures(status v1.StatefulSetStatus, failures []Failure, now time.Time) v1.StatefulSetStatus {
	if len(failures) == 0 {
		return status
	}
	status = *status.DeepCopy()
	worst := failures[0]
	for _, failure := range failures {
		if isRefusal(failure.Err) {
			worst = failure
			break
		}
	}
	message := fmt.Sprintf("could not %s: %v", worst.Action, worst.Err)
	if len(failures) > 1 {
		message += fmt.Sprintf(" (and %d more)", len(failures)-1)
	}
	word := "HostUnavailable"
	if isRefusal(worst.Err) {
		word = "HostRefused"
		set(&status, now, condition(v1.StatefulSetStalled, corev1.ConditionTrue, word, message))
	}
	set(&status, now, condition(v1.StatefulSetReady, corev1.ConditionFalse, word, message))
	set(&status, now, condition(v1.StatefulSetReconciling, corev1.ConditionTrue, word, message))
	return status
}

func condition(kind v1.StatefulSetConditionType, status corev1.ConditionStatus, word, message string) v1.StatefulSetCondition {
	return v1.StatefulSetCondition{Type: kind, Status: status, Reason: word, Message: message}
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
