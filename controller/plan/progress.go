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

// lastProgress is when the set last made progress: the time of the sync that found a changed
// counter, revision or generation, or that found open work after there was none.
func lastProgress(f *facts, status *v1.StatefulSetStatus, open *reason) *metav1.Time {
	before := f.world.Set.Status
	ready := before.Condition(v1.StatefulSetReady)
	begins := open != nil && (ready.Status != corev1.ConditionFalse || isDeadlineExempt(ready.Reason) && !isDeadlineExempt(open.word))
	same := before.ObservedGeneration == status.ObservedGeneration && countsOfPods(&before) == countsOfPods(status) &&
		sameClaimsAndObjects(&before, status) &&
		stepOf(&before) == stepOf(status) &&
		before.CurrentRevision == status.CurrentRevision && before.UpdateRevision == status.UpdateRevision
	if before.LastProgressTime == nil || !same || begins {
		return &metav1.Time{Time: f.world.Now.Truncate(time.Second)}
	}
	return before.LastProgressTime
}

// sameClaimsAndObjects reports whether, for each template, as many claims and objects as before
// exist and are up to date.
func sameClaimsAndObjects(before, after *v1.StatefulSetStatus) bool {
	return slices.EqualFunc(before.VolumeClaims, after.VolumeClaims,
		func(a, b v1.VolumeClaimStatus) bool { return a.Claims == b.Claims && a.UpToDate == b.UpToDate }) &&
		slices.EqualFunc(before.ObjectTemplates, after.ObjectTemplates, func(a, b v1.ObjectTemplateStatus) bool {
			return a.Present+a.Foreign == b.Present+b.Foreign && a.Updated == b.Updated
		})
}

// countsOfPods are the numbers of pods in a status.
func countsOfPods(status *v1.StatefulSetStatus) [5]int32 {
	return [5]int32{status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.CurrentReplicas, status.UpdatedReplicas}
}

// stepOf is the step of an update in a status.
func stepOf(status *v1.StatefulSetStatus) int32 {
	if status.Rollout == nil {
		return 0
	}
	return status.Rollout.Step
}

// isForPeople reports whether a set with such open work waits for the decision of a person.
func isForPeople(word string) bool {
	return word == v1.ReasonPaused || word == v1.ReasonWaitingForPromotion
}

// isDeadlineExempt reports whether the progress deadline does not apply to a set with such open
// work: the set waits for something that takes its time, or already reports in another way that it
// does not continue.
func isDeadlineExempt(word string) bool {
	switch word {
	case v1.ReasonBaking, v1.ReasonWaitingForConditions, v1.ReasonRolloutFailed, v1.ReasonRolledBack:
		return true
	default:
		return isForPeople(word)
	}
}

// overdue says that work is open and that the set has made no progress for its deadline. It is nil
// if that is not the case, or if the open work is exempt from the deadline. If it may become the
// case, left is the time until then.
func overdue(f *facts, status *v1.StatefulSetStatus, open *reason) (why *reason, left time.Duration) {
	if open == nil || isDeadlineExempt(open.word) || f.suspended || f.world.Set.DeletionTimestamp != nil {
		return nil, 0
	}
	deadline := f.progressDeadline()
	since := latest(status.LastProgressTime.Time, f.drainedUntil())
	if left := since.Add(deadline).Sub(f.world.Now); left > 0 {
		return nil, left
	}
	return &reason{v1.ReasonProgressDeadlineExceeded, fmt.Sprintf("no progress since %s, for longer than %s: %s",
		words.Timestamp(since), deadline, open.message)}, 0
}

// soonest is the shorter of two times; zero stands for never.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// outdatedText says how many members of a set without open work run an older template, and why. It
// is empty if none does.
func (f *facts) outdatedText() string {
	count := 0
	for _, m := range f.members {
		if m.pod != nil && revisionOf(m.pod) != f.update.name {
			count++
		}
	}
	runs, until := "run", "until their pods are deleted"
	if count == 1 {
		runs, until = "runs", "until its pod is deleted"
	}
	switch {
	case count == 0:
		return ""
	case f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType:
		return fmt.Sprintf("; %d %s an older template %s, because updateStrategy.type is OnDelete", count, runs, until)
	case f.partition() > 0:
		return fmt.Sprintf("; %d %s an older template, because updateStrategy.rollingUpdate.partition is %d", count, runs, f.partition())
	default:
		return fmt.Sprintf("; %d %s an older template", count, runs)
	}
}
