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

// noteProgress notes when something has last moved: the time is that of the look
// that found a counter, a revision or the generation other than before, or found
// work where there was none.
func (p *planner) noteProgress(status *v1.StatefulSetStatus, open *reason) {
	before := p.Set.Status
	ready := findCondition(&before, v1.StatefulSetReady)
	begins := open != nil && (ready == nil || ready.Status != corev1.ConditionFalse)
	same := before.ObservedGeneration == status.ObservedGeneration &&
		before.Replicas == status.Replicas && before.ReadyReplicas == status.ReadyReplicas &&
		before.AvailableReplicas == status.AvailableReplicas &&
		before.CurrentReplicas == status.CurrentReplicas && before.UpdatedReplicas == status.UpdatedReplicas &&
		before.CurrentRevision == status.CurrentRevision && before.UpdateRevision == status.UpdateRevision
	status.LastProgressTime = before.LastProgressTime
	if before.LastProgressTime == nil || !same || begins {
		status.LastProgressTime = &metav1.Time{Time: p.Now.Truncate(time.Second)}
	}
}

// overdue says that work is open and nothing has moved for the set's deadline, nil
// if that is not so. As long as it is not, the set must be looked at again when it
// could become so.
func (p *planner) overdue(status *v1.StatefulSetStatus, open *reason) *reason {
	if open == nil || p.held || p.Set.DeletionTimestamp != nil {
		return nil
	}
	deadline := time.Duration(v1.DefaultProgressDeadlineSeconds) * time.Second
	if seconds := p.Set.Spec.ProgressDeadlineSeconds; seconds != nil {
		deadline = time.Duration(*seconds) * time.Second
	}
	if left := status.LastProgressTime.Add(deadline).Sub(p.Now); left > 0 {
		p.deadlineIn = left
		return nil
	}
	return &reason{v1.ReasonProgressDeadlineExceeded, fmt.Sprintf("nothing has moved since %s, for longer than %s: %s",
		clock(status.LastProgressTime.Time), deadline, open.message)}
}

// nextLook is how long it takes until time alone changes the plan or the status.
func (p *planner) nextLook() time.Duration {
	next := p.nextAvailability()
	if next == 0 || p.deadlineIn > 0 && p.deadlineIn < next {
		next = p.deadlineIn
	}
	return next
}

// clock is how a message gives a time.
func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// recreating is the condition Progressing of an update of the type Recreate, as
// apps/v1 has it, and false if the set is not, and was not last, updated so.
func (p *planner) recreating() (v1.StatefulSetCondition, bool) {
	if p.progressing != nil {
		return *p.progressing, true
	}
	if p.Set.Spec.UpdateStrategy.Type != v1.RecreateStatefulSetStrategyType {
		return v1.StatefulSetCondition{}, false
	}
	before := findCondition(&p.Set.Status, v1.StatefulSetProgressing)
	if before == nil || before.Reason != v1.ReasonRecreateInProgress && before.Reason != v1.ReasonRecreateCompleted {
		return v1.StatefulSetCondition{}, false
	}
	return *before, true
}
