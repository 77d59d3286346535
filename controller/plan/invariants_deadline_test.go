// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// lapse is what looks have shown of the members at a step of an update.
type lapse struct {
	step string
	// most is how many served at a time, and since when the first look found one that did not,
	// after that; zero if none did.
	most  int
	since time.Time
}

// lapses are what looks have shown of one update after the other.
type lapses struct {
	now, before lapse
	// told is what the status was to say after the last look.
	told v1.RolloutStatus
}

// see remembers what a world shows. What the controller did not live to write down, it has not
// seen: then it may be behind.
func (l *lapses) see(j *judged) {
	if record := j.record(); !record.ProgressTime.Equal(l.told.ProgressTime) || record.MostAvailable != l.told.MostAvailable {
		l.now = l.before
	}
	l.before, l.told = l.now, v1.RolloutStatus{}
	if now := j.plan.Status.Rollout; now != nil {
		l.told = *now
	}
	number, _ := j.step()
	if step := fmt.Sprintf("%s %s %d", j.Set.UID, j.plan.Status.UpdateRevision, number); l.now.step != step {
		l.now = lapse{step: step}
	}
	updated, serving := j.updatedMembers(), 0
	for _, ordinal := range updated {
		if j.serves(ordinal) {
			serving++
		}
	}
	steady, all := j.allUpdatedServe(0)
	if waits := len(updated) < j.wantedAtStep(); serving > l.now.most || all && waits && j.Now.Sub(steady) >= j.updateDeadline() {
		l.now.since = time.Time{}
	}
	l.now.most = max(l.now.most, serving)
	if serving < len(updated) && l.now.since.IsZero() {
		l.now.since = j.Now.Truncate(time.Second)
	}
}

// wantedAtStep is how many members are to be updated before the update goes on.
func (j *judged) wantedAtStep() int {
	if number, inSteps := j.step(); inSteps {
		return j.quota(number)
	}
	return len(j.ordinals)
}

// updateDeadline is how long an update may take that does not become better.
func (f evidence) updateDeadline() time.Duration {
	if seconds := f.Set.Spec.ProgressDeadlineSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return 600 * time.Second
}

// isLate reports whether a member at the update does not serve, and one was found not to for
// the first time so long ago, without that more have served since.
func (j *judged) isLate() bool {
	fails := func(ordinal int) bool { return !j.serves(ordinal) && !j.isLeaving(ordinal) }
	since := j.lapse.since
	if recorded := j.record().ProgressTime; recorded != nil && j.precedesPods(recorded.Time) {
		since = recorded.Time
	}
	return !since.IsZero() && j.Now.Sub(since) >= j.updateDeadline() && slices.ContainsFunc(j.updatedMembers(), fails)
}

// precedesPods reports whether a date is before the pods at the update existed: the clock of the controller that has
// recorded it was behind the one of the cluster.
func (j *judged) precedesPods(date time.Time) bool {
	exists := func(ordinal int) bool { return !j.member(ordinal).CreationTimestamp.After(date) }
	return !slices.ContainsFunc(j.updatedMembers(), exists)
}

// isRefuted reports whether a condition that the step asks for is False of a member at the
// update.
func (j *judged) isRefuted() bool {
	number, inSteps := j.step()
	return inSteps && slices.ContainsFunc(j.updatedMembers(), func(ordinal int) bool {
		return slices.ContainsFunc(j.steps()[number-1].PodConditions, func(name string) bool {
			return said(j.member(ordinal), name) == corev1.ConditionFalse
		})
	})
}

// fails: no update is said to have failed because of what others do, or for a moment.
func (j *judged) fails() {
	if stalled := j.says(v1.StatefulSetStalled); stalled.Status != corev1.ConditionTrue || stalled.Reason != v1.ReasonRolloutFailed ||
		j.undecided() || j.record().Aborted {
		return
	}
	if !j.isLate() && !j.isRefuted() {
		j.broke("failed", "the update is said to have failed with the members %v at it, of which one does not serve since %v", j.updatedMembers(),
			j.lapse.since)
	}
}
