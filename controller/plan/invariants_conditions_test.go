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

// ownConditions are those that every set has once it has been looked at.
func ownConditions() []v1.StatefulSetConditionType {
	return []v1.StatefulSetConditionType{
		v1.StatefulSetReady, v1.StatefulSetAvailable, v1.StatefulSetProgressing, v1.StatefulSetReconciling, v1.StatefulSetStalled}
}

// says is the status of a condition of the plan, empty if it is missing.
func (j *judged) says(kind v1.StatefulSetConditionType) v1.StatefulSetCondition {
	for _, condition := range j.plan.Status.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return v1.StatefulSetCondition{}
}

// conditions: those of others stay as they are, ours are there, none is twice, and
// each says why.
func (j *judged) conditions() {
	count := map[v1.StatefulSetConditionType]int{}
	kept := map[v1.StatefulSetCondition]bool{}
	for _, condition := range j.plan.Status.Conditions {
		count[condition.Type]++
		kept[condition] = true
		if condition.Reason == "" || condition.LastTransitionTime.IsZero() {
			j.broke("conditions", "condition %v says too little", condition)
		}
		if count[condition.Type] > 1 {
			j.broke("conditions", "condition %s is there twice", condition.Type)
		}
	}
	own := map[v1.StatefulSetConditionType]bool{}
	for _, kind := range ownConditions() {
		own[kind] = true
		if count[kind] == 0 {
			j.broke("conditions", "condition %s is missing", kind)
		}
	}
	for _, condition := range j.Set.Status.Conditions {
		if !own[condition.Type] && !kept[condition] {
			j.broke("conditions of others", "condition %v is lost", condition)
		}
	}
}

// readyOnlyIfSo: Ready is true only if the set is as the user wants it.
func (j *judged) readyOnlyIfSo() {
	if j.says(v1.StatefulSetReady).Status != corev1.ConditionTrue {
		return
	}
	if lacks := j.notDesired(); len(lacks) > 0 || j.Set.DeletionTimestamp != nil {
		j.broke("ready", "Ready is true although %v", lacks)
	}
}

// mustProgress reports whether a set is expected to move.
func (j *judged) mustProgress() bool {
	ready := j.says(v1.StatefulSetReady)
	return ready.Status == corev1.ConditionFalse && !waitsFor(ready.Reason) && j.Set.DeletionTimestamp == nil
}

// waitsFor reports whether a reason says that a set need not move.
func waitsFor(reason string) bool {
	return slices.Contains([]string{v1.ReasonPaused, v1.ReasonBaking, v1.ReasonWaitingForConditions, v1.ReasonWaitingForPromotion,
		v1.ReasonRolloutFailed, v1.ReasonRolledBack}, reason)
}

// deadline is how long the set may still go without moving.
func (j *judged) deadline() time.Duration {
	allowed := 600 * time.Second
	if seconds := j.Set.Spec.ProgressDeadlineSeconds; seconds != nil {
		allowed = time.Duration(*seconds) * time.Second
	}
	since := j.plan.Status.LastProgressTime.Time
	for _, ordinal := range j.ordinals {
		if end, drains := j.drainEnd(j.member(ordinal)); drains && end.After(since) {
			since = end
		}
	}
	return allowed - j.Now.Sub(since)
}

// progress: the time of the last progress moves when something has, and only then;
// when it is too long ago, and not before, the set says so.
func (j *judged) progress() {
	before, now := j.Set.Status, j.plan.Status
	moved := before.ObservedGeneration != now.ObservedGeneration || before.Replicas != now.Replicas ||
		before.ReadyReplicas != now.ReadyReplicas ||
		before.AvailableReplicas != now.AvailableReplicas || before.UpdatedReplicas != now.UpdatedReplicas ||
		before.CurrentReplicas != now.CurrentReplicas ||
		before.CurrentRevision != now.CurrentRevision || before.UpdateRevision != now.UpdateRevision ||
		fmt.Sprint(claimCounts(before)) != fmt.Sprint(claimCounts(now)) || fmt.Sprint(movedObjects(before)) != fmt.Sprint(movedObjects(now)) ||
		stepIn(before) != stepIn(now)
	switch {
	case now.LastProgressTime == nil:
		j.broke("progress", "the status does not say when something has moved")
		return
	case moved && !now.LastProgressTime.Time.Equal(j.Now.Truncate(time.Second)):
		j.broke("progress", "something has moved, and the status says %v at %v", now.LastProgressTime, j.Now)
	case !moved && before.LastProgressTime != nil && !now.LastProgressTime.Equal(before.LastProgressTime) &&
		j.readyBefore().Status == corev1.ConditionFalse && !waitsFor(j.readyBefore().Reason):
		j.broke("progress", "nothing has moved since %v, and the status says %v", before.LastProgressTime, now.LastProgressTime)
	}
	overdue := j.says(v1.StatefulSetProgressing).Reason == v1.ReasonProgressDeadlineExceeded
	if late := j.mustProgress() && j.deadline() <= 0; overdue != late {
		j.broke("progress", "%s are left until the deadline, and the set says %v", j.deadline(), j.says(v1.StatefulSetProgressing))
	}
}

// claimCounts are how many claims there are and how many are up to date, by template.
func claimCounts(status v1.StatefulSetStatus) (counts [][2]int32) {
	for _, c := range status.VolumeClaims {
		counts = append(counts, [2]int32{c.Claims, c.UpToDate})
	}
	return counts
}

func (j *judged) readyBefore() v1.StatefulSetCondition {
	for _, condition := range j.Set.Status.Conditions {
		if condition.Type == v1.StatefulSetReady {
			return condition
		}
	}
	return v1.StatefulSetCondition{}
}

// stepIn is the step that a status has an update at.
func stepIn(status v1.StatefulSetStatus) int32 {
	if status.Rollout == nil {
		return 0
	}
	return status.Rollout.Step
}
