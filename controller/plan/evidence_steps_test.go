// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// rolling refines the updates of the set, and says nothing if they do not roll.
func (f evidence) rolling() v1.RollingUpdateStatefulSetStrategy {
	if f.strategy() != v1.RollingUpdateStatefulSetStrategyType || f.Set.Spec.UpdateStrategy.RollingUpdate == nil {
		return v1.RollingUpdateStatefulSetStrategy{}
	}
	return *f.Set.Spec.UpdateStrategy.RollingUpdate
}

func (f evidence) steps() []v1.RolloutStep { return f.rolling().Steps }

// rollsBackOnFailure reports whether an update that fails is rolled back.
func (f evidence) failsBack() bool {
	policy := f.rolling().FailurePolicy
	return policy != nil && *policy == v1.RollbackRolloutFailurePolicy
}

// isTracked reports whether the status has to say whom an update has reached.
func (j *judged) isTracked() bool {
	updated, record := j.plan.Status.UpdateRevision, j.record()
	if j.currentRevision(updated) == updated {
		return false
	}
	return j.isPaused() || len(j.steps()) > 0 || j.failsBack() || record.Aborted || record.Rollback
}

// record is what the status before the plan says of the present update.
func (j *judged) record() v1.RolloutStatus {
	if before := j.Set.Status.Rollout; before != nil && before.Revision == j.plan.Status.UpdateRevision {
		return *before
	}
	return v1.RolloutStatus{}
}

// begins reports whether nothing stands in the status yet that the update could rest on.
func (j *judged) begins() bool { return j.record().Step == 0 }

// goesBack reports whether the members are to be at the current revision again.
func (j *judged) goesBack() bool {
	record := j.record()
	return j.isTracked() && !j.begins() && (record.Aborted || record.Rollback) && !j.anySuperseded()
}

func (j *judged) anySuperseded() bool {
	return slices.ContainsFunc(j.ordinals, func(ordinal int) bool { return names(j.record().Superseded, ordinal) })
}

// rests reports whether no member is to be changed for the update.
func (j *judged) rests() bool {
	return j.isPaused() || j.isTracked() && (j.begins() || j.record().Aborted && !j.goesBack())
}

// step is the step that the update is at, from 1; false if it has none, or has done them all.
func (j *judged) step() (number int, of bool) {
	record := j.record()
	number = max(j.position(record.StepHashes, int(record.Step)), 1)
	return number, j.isTracked() && number <= len(j.steps()) && (!record.PromotedAll || j.begins())
}

// position is where an update is that is at a step of a list which may be another one by now: the
// first step that is not among those before it. Records of earlier versions have no hashes.
func (j *judged) position(hashes []string, number int) int {
	now := identity.StepHashes(j.steps())
	if len(hashes) == 0 && number > 1 || number == 0 || slices.Equal(hashes, now) {
		return number
	}
	done := map[string]int{}
	for _, hash := range hashes[:min(number-1, len(hashes))] {
		done[hash]++
	}
	for i, hash := range now {
		if done[hash]--; done[hash] < 0 {
			return i + 1
		}
	}
	return len(now) + 1
}

// goesOn reports whether there is more to an update than that all members are as they are to be.
func (j *judged) goesOn() bool {
	_, inSteps := j.step()
	return inSteps || j.goesBack() || j.isTracked() && j.begins() && !j.isPaused()
}

// byRecord reports whether only those members are updated that the status names.
func (j *judged) byRecord() bool {
	_, of := j.step()
	return j.isTracked() && (j.isPaused() || of)
}

// isReached reports whether a member is to be at the revision of an update that goes by the
// status.
func (j *judged) isReached(ordinal int) bool {
	pod, record := j.member(ordinal), j.record()
	if pod != nil && pod.Labels["controller-revision-hash"] == j.plan.Status.UpdateRevision {
		return true
	}
	if j.begins() { // of whom the update had reached before, only the plan can tell
		return pod == nil && j.plan.Status.Rollout != nil &&
			(names(j.plan.Status.Rollout.Superseded, ordinal) || record.Unblocking != nil && int(*record.Unblocking) == ordinal)
	}
	return names(record.Released, ordinal) || pod == nil && names(record.Superseded, ordinal)
}

// awaitsRelease reports whether a member that has no pod is about to be reached, and created
// then.
func (j *judged) awaitsRelease() bool {
	now := j.plan.Status.Rollout
	return j.byRecord() && now != nil && slices.ContainsFunc(j.ordinals, func(ordinal int) bool {
		return j.member(ordinal) == nil && names(now.Released, ordinal) && !j.isReached(ordinal)
	})
}

// quota is how many members are to be updated at a step, from 1.
func (j *judged) quota(number int) (most int) {
	for _, step := range j.steps()[:number] {
		n := step.Updated.IntValue()
		if percent, ok := strings.CutSuffix(step.Updated.StrVal, "%"); ok {
			share, err := strconv.Atoi(percent)
			if err != nil {
				continue
			}
			n = (len(j.ordinals)*share + 99) / 100
		}
		most = max(most, min(n, len(j.ordinals)))
	}
	return most
}

// updatedMembers are those whose pods are at the revision of the update, and not about to go.
func (j *judged) updatedMembers() (ordinals []int) {
	for _, ordinal := range j.ordinals {
		if pod := j.member(ordinal); pod != nil && pod.DeletionTimestamp == nil &&
			pod.Labels["controller-revision-hash"] == j.plan.Status.UpdateRevision {
			ordinals = append(ordinals, ordinal)
		}
	}
	return ordinals
}

// allUpdatedServe reports whether as many members as a step asks for are updated, and all of
// those serve; and since when at the earliest.
func (j *judged) allUpdatedServe(quota int) (since time.Time, all bool) {
	updated := j.updatedMembers()
	for _, ordinal := range updated {
		if !j.serves(ordinal) {
			return since, false
		}
		from, _ := ready(j.member(ordinal))
		if from = from.Add(time.Duration(j.Set.Spec.MinReadySeconds) * time.Second); from.After(since) {
			since = from
		}
	}
	return since, len(updated) >= quota && len(updated) > 0
}

func said(pod *corev1.Pod, condition string) corev1.ConditionStatus {
	for _, c := range pod.Status.Conditions {
		if string(c.Type) == condition {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}

// patience is for how long members must not have been ready before they are replaced out of
// turn. What is rolled back is not waited for.
func (j *judged) patience() (time.Duration, bool) {
	if j.goesBack() {
		return 0, true
	}
	return j.evidence.patience()
}
