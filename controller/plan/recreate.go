// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/conditions"
)

// removeOld removes all outdated pods at the same time, in an ordered set too. Nothing is created
// before the last of them has terminated.
func removeOld(f *facts, d *draft) verdict {
	if f.world.Set.Spec.UpdateStrategy.Type != v1.RecreateStatefulSetStrategyType {
		return proceed
	}
	if f.isStopped() && f.rollout.unrecorded {
		d.wait("waiting for status.rollout to record which members run revision %s", f.update.name)
		return pause
	}
	old := 0
	for m := range f.all() {
		if _, how := f.target(m); how != recreate {
			continue
		}
		old++
		switch {
		case isTerminating(m.pod):
		case !f.roster.Contains(m.ordinal) || returnable(f, d, m):
			d.add(remove(f, d, m, f.removalOf(m))...)
		default:
			d.postpone(f, m)
		}
	}
	if old > 0 {
		d.wait("waiting for %d pods of earlier revisions to terminate%s", old, f.lateText())
		d.progressing = progressingCondition(corev1.ConditionTrue, v1.ReasonRecreateInProgress, "pods of earlier revisions are being removed")
		return pause
	}
	if f.current.name != f.update.name && !f.isRollingBack() && !f.isRolloutBlocked() {
		d.progressing = progressingCondition(corev1.ConditionTrue, v1.ReasonRecreateInProgress, "pods of the update revision are being created")
	}
	return proceed
}

// podAtOtherRevision is a pod with another revision than the one at which a member is to be
// created, nil if the strategy does not forbid that. With Recreate, members have several revisions
// if an update was aborted that cannot be rolled back: some members return to the current revision,
// and others have no revision to return to.
func (f *facts) podAtOtherRevision(at *revision) *corev1.Pod {
	if f.world.Set.Spec.UpdateStrategy.Type != v1.RecreateStatefulSetStrategyType || !f.isStopped() {
		return nil
	}
	for m := range f.all() {
		if m.pod != nil && !isFinished(m.pod) && revisionOf(m.pod) != at.name {
			return m.pod
		}
	}
	return nil
}

// progressingCondition is the condition Progressing in the form that apps/v1 uses for this
// strategy.
func progressingCondition(status corev1.ConditionStatus, word, message string) *conditions.Condition {
	return &conditions.Condition{Status: status, Reason: word, Message: message}
}

// recreateCondition is the condition Progressing of the current or last update with this strategy,
// nil if there is none.
func recreateCondition(f *facts, d *draft) *conditions.Condition {
	if d.progressing != nil {
		return d.progressing
	}
	if f.world.Set.Spec.UpdateStrategy.Type != v1.RecreateStatefulSetStrategyType {
		return nil
	}
	before := f.world.Set.Status.Condition(v1.StatefulSetProgressing)
	if before.Reason != v1.ReasonRecreateInProgress && before.Reason != v1.ReasonRecreateCompleted {
		return nil
	}
	return progressingCondition(before.Status, before.Reason, before.Message)
}
