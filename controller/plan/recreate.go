// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/conditions"
)

// removeOld removes every pod of an old revision at the same time, in an ordered set
// too, and lets nothing be created until the last one is gone.
func removeOld(f *facts, d *draft) verdict {
	if f.world.Set.Spec.UpdateStrategy.Type != v1.RecreateStatefulSetStrategyType {
		return proceed
	}
	if f.isStopped() && f.rollout.begins {
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
			d.each(remove(f, d, m, f.removalOf(m))...)
		default:
			d.giveUp(f, m)
		}
	}
	if old > 0 {
		d.wait("waiting for %d pods of earlier revisions to terminate%s", old, f.lateText())
		d.progressing = recreation(corev1.ConditionTrue, v1.ReasonRecreateInProgress, "pods of earlier revisions are being removed")
		return pause
	}
	if f.current.name != f.update.name && !f.rollsBack() && !f.rests() {
		d.progressing = recreation(corev1.ConditionTrue, v1.ReasonRecreateInProgress, "pods of the present revision are being created")
	}
	return proceed
}

// besideRecreated is a pod of another revision than the one that a member is to be created at, nil if the
// strategy lets it be. Members have several revisions with Recreate if an update was aborted that cannot
// be rolled back: then some return to the current revision, and others have nothing to return to.
func (f *facts) besideRecreated(at *revision) *corev1.Pod {
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

// recreation is the condition Progressing, as apps/v1 has it for this strategy.
func recreation(status corev1.ConditionStatus, word, message string) *conditions.Condition {
	return &conditions.Condition{Status: status, Reason: word, Message: message}
}

// recreating is the condition Progressing of an update of this strategy that is under
// way, or was the last; nil if the set is not, and was not, updated so.
func recreating(f *facts, d *draft) *conditions.Condition {
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
	return recreation(before.Status, before.Reason, before.Message)
}
