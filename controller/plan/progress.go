// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// lastProgress is when something has last moved: the time is that of the look that
// found a counter, a revision or the generation other than before, or found work where
// there was none.
func lastProgress(f *facts, status *v1.StatefulSetStatus, open *reason) *metav1.Time {
	before := f.world.Set.Status
	ready := before.Condition(v1.StatefulSetReady)
	begins := open != nil && (ready.Status != corev1.ConditionFalse || stands(ready.Reason) && !stands(open.word))
	same := before.ObservedGeneration == status.ObservedGeneration && countsOfPods(&before) == countsOfPods(status) &&
		sameBeside(&before, status) &&
		stepOf(&before) == stepOf(status) &&
		before.CurrentRevision == status.CurrentRevision && before.UpdateRevision == status.UpdateRevision
	if before.LastProgressTime == nil || !same || begins {
		return &metav1.Time{Time: f.world.Now.Truncate(time.Second)}
	}
	return before.LastProgressTime
}

// sameBeside reports whether as many claims and objects of each template are as they are to be.
func sameBeside(before, after *v1.StatefulSetStatus) bool {
	return slices.EqualFunc(before.VolumeClaims, after.VolumeClaims,
		func(a, b v1.VolumeClaimStatus) bool { return a.Claims == b.Claims && a.UpToDate == b.UpToDate }) &&
		slices.EqualFunc(before.ObjectTemplates, after.ObjectTemplates, func(a, b v1.ObjectTemplateStatus) bool {
			return a.Present+a.Foreign == b.Present+b.Foreign && a.Updated == b.Updated
		})
}

// countsOfPods are the numbers of pods that a status has.
func countsOfPods(status *v1.StatefulSetStatus) [5]int32 {
	return [5]int32{status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.CurrentReplicas, status.UpdatedReplicas}
}

// stepOf is the step that a status says an update is at.
func stepOf(status *v1.StatefulSetStatus) int32 {
	if status.Rollout == nil {
		return 0
	}
	return status.Rollout.Step
}

// isForPeople reports whether a set with such work open waits for somebody to decide.
func isForPeople(word string) bool {
	return word == v1.ReasonPaused || word == v1.ReasonWaitingForPromotion
}

// stands reports whether a set with such work open waits for what takes its time, or says in
// other words that it goes no further.
func stands(word string) bool {
	switch word {
	case v1.ReasonBaking, v1.ReasonWaitingForConditions, v1.ReasonRolloutFailed, v1.ReasonRolledBack:
		return true
	default:
		return isForPeople(word)
	}
}

// overdue says that work is open and nothing has moved for the set's deadline, nil
// if that is not so, or if the set stands. As long as it is not, and may
// become so, left is how long that takes.
func overdue(f *facts, status *v1.StatefulSetStatus, open *reason) (why *reason, left time.Duration) {
	if open == nil || stands(open.word) || f.held || f.world.Set.DeletionTimestamp != nil {
		return nil, 0
	}
	deadline := f.progressDeadline()
	since := latest(status.LastProgressTime.Time, f.drainedUntil())
	if left := since.Add(deadline).Sub(f.world.Now); left > 0 {
		return nil, left
	}
	return &reason{v1.ReasonProgressDeadlineExceeded, fmt.Sprintf("nothing has moved since %s, for longer than %s: %s",
		words.Clock(since), deadline, open.message)}, 0
}

// soonest is the shorter of two times, of which zero is never.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
