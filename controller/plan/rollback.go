// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// rollsBackOnFailure reports whether the set rolls back failed updates.
func (f *facts) rollsBackOnFailure() bool {
	rolling := f.rollingUpdate()
	return rolling != nil && rolling.FailurePolicy != nil && *rolling.FailurePolicy == v1.RollbackRolloutFailurePolicy
}

// isAborted reports whether a user has aborted the update.
func (f *facts) isAborted() bool { return f.rollout != nil && f.rollout.stored.Aborted }

// isRollingBack reports whether the members return to the current revision instead of running the
// template. It is false if there are superseded members: they would return to a revision before the
// current one.
func (f *facts) isRollingBack() bool {
	r := f.rollout
	return r != nil && !r.unrecorded && (r.stored.Aborted || r.stored.Rollback) && len(r.superseded) == 0
}

// destination is the revision that all members have in the end.
func (f *facts) destination() *revision {
	if f.isRollingBack() {
		return f.current
	}
	return f.update
}

// rolloutFailure says why the update has failed, nil if it has not. A program that sets conditions
// may set False before it has a result, so False counts only after the bake, or if all conditions
// were True before. As long as a condition is Unknown, the update waits.
func (f *facts) rolloutFailure(p *progress) *reason {
	if f.isRolloutBlocked() || !f.judges() {
		return nil
	}
	for _, m := range p.updated {
		for _, name := range p.step.PodConditions {
			if conditionStatus(m.pod, name) == corev1.ConditionFalse && (p.baked || p.passed[m.ordinal]) {
				return &reason{v1.RolloutConditionFalse, fmt.Sprintf("condition %s of pod %s is False", words.Sanitize(name), m.pod.Name)}
			}
		}
	}
	if p.firstUnexpected != nil && p.progressTime != nil && !f.world.Now.Before(f.failsAt(p)) {
		return &reason{
			v1.RolloutDeadlineExceeded, fmt.Sprintf("%s is not available, and the update has made no progress since %s, for longer than %s: %s",
				p.firstUnexpected.pod.Name, words.Timestamp(p.progressTime.Time), f.failsAt(p).Sub(p.progressTime.Time),
				f.diagnose(*p.firstUnexpected))}
	}
	return nil
}

// failRollout records that the update is rolled back, if it has failed and the set requests that.
// The sync that reads the record starts the rollback.
func (f *facts) failRollout(next *v1.RolloutStatus) {
	r := f.rollout
	why := r.progress.failure
	if why == nil || !f.rollsBackOnFailure() || len(r.superseded) > 0 || r.stored.Aborted || r.stored.Rollback {
		return
	}
	next.Rollback = true
	next.Failure = &v1.RolloutFailure{Reason: why.word, Message: why.message, Time: metav1.NewTime(f.world.Now.Truncate(time.Second))}
}
