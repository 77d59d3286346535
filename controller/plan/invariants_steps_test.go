// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// stepping: an update goes from step to step, each when it is done and none left out, and
// reaches no more members than its step asks for.
func (j *judged) stepping() {
	now, record := j.plan.Status.Rollout, j.record()
	if !j.isTracked() || j.undecided() || j.Set.DeletionTimestamp != nil || now == nil {
		return
	}
	number, inSteps := j.step()
	if j.begins() && now.Step != 1 {
		j.broke("steps", "an update begins with step %d", now.Step)
	}
	if j.begins() || !inSteps {
		return
	}
	if int(now.Step) != number && int(now.Step) != number+1 {
		j.broke("steps", "step %d comes after step %d of %d", now.Step, number, len(j.steps()))
	}
	if int(now.Step) > number {
		j.mayGoOn(number)
	}
	j.bakes(number)
	stay, broken := 0, 0
	for _, ordinal := range j.ordinals {
		pod := j.member(ordinal)
		if j.isReached(ordinal) && (pod == nil || pod.DeletionTimestamp != nil || pod.Labels["controller-revision-hash"] == now.Revision) {
			stay++
		} else if pod != nil && names(record.Superseded, ordinal) {
			if _, is := unreadySince(pod); is {
				broken++
			}
		}
	}
	reached := 0
	for _, ordinal := range j.ordinals {
		if names(now.Released, ordinal) {
			reached++
		}
	}
	if most := max(j.quota(number), stay) + broken; reached > most {
		j.broke("quota", "%d members are reached at step %d, which asks for %d, and %d are", reached, number, j.quota(number), stay)
	}
	if reached > stay && (j.isPaused() || record.Aborted || record.Rollback) {
		j.broke("quota", "%d members are reached, after %d, of an update that goes no further", reached, stay)
	}
}

// mayGoOn: a step is done when its members serve for long enough, their conditions are True,
// and somebody has promoted it, if that is asked for.
func (j *judged) mayGoOn(number int) {
	step, record := j.steps()[number-1], j.record()
	since, all := j.allUpdatedServe(j.quota(number))
	baked := step.BakeSeconds == 0 || record.BakeStartTime != nil && int(record.Step) == number &&
		j.Now.Sub(record.BakeStartTime.Time) >= time.Duration(step.BakeSeconds)*time.Second &&
		j.Now.Sub(since) >= time.Duration(step.BakeSeconds)*time.Second
	if !all || !baked || len(j.ordinals) == 0 {
		j.broke("step done", "step %d is left, with the members %v at the update, and %+v", number, j.updatedMembers(), record)
	}
	for _, ordinal := range j.updatedMembers() {
		for _, condition := range step.PodConditions {
			if got := said(j.member(ordinal), condition); got != corev1.ConditionTrue {
				j.broke("step done", "step %d is left although %s of member %d is %s", number, condition, ordinal, got)
			}
		}
	}
	if step.Approval == v1.ManualRolloutStepApproval && int(record.PromotedStep) < number {
		j.broke("step done", "step %d is left, and nobody has promoted it", number)
	}
	if j.isPaused() || record.Aborted || record.Rollback {
		j.broke("step done", "step %d is left of an update that goes no further", number)
	}
}

// bakes: the time of the bake begins when all members of the step serve, and again when one
// did not. The clock of the cluster, which says since when they serve, may be ahead, and so may the clock of the
// controller that has recorded when the bake began: such a date is kept.
func (j *judged) bakes(number int) {
	now, record := j.plan.Status.Rollout, j.record()
	since, all := j.allUpdatedServe(j.quota(number))
	last, recorded := latest(j.Now, since), record.BakeStartTime != nil && int(record.Step) == number
	if recorded {
		last = latest(last, record.BakeStartTime.Time)
	}
	switch {
	case int(now.Step) != number:
	case !all && now.BakeStartTime != nil:
		j.broke("bake", "step %d bakes since %v without its members", number, now.BakeStartTime)
	case all && (now.BakeStartTime == nil || now.BakeStartTime.Time.Before(since.Truncate(time.Second)) || now.BakeStartTime.After(last)):
		j.broke("bake", "step %d bakes since %v, and its members serve since %v", number, now.BakeStartTime, since)
	case all && recorded && !since.After(record.BakeStartTime.Time) && !now.BakeStartTime.Equal(record.BakeStartTime):
		j.broke("bake", "step %d bakes since %v, and baked since %v", number, now.BakeStartTime, record.BakeStartTime)
	}
}

// decisions: what people have decided about an update stays in the status as long as it goes
// on, and is about no other; an update is rolled back only if it has failed.
func (j *judged) decisions() {
	now, record := j.plan.Status.Rollout, j.record()
	if now == nil || j.undecided() {
		return
	}
	promoted := j.position(record.StepHashes, int(record.PromotedStep)+1) - 1
	if j.isTracked() && (int(now.PromotedStep) != promoted || now.PromotedAll != record.PromotedAll || now.Aborted != record.Aborted) {
		j.broke("decisions", "the status says %+v of what was decided, and said %+v", now, j.Set.Status.Rollout)
	}
	if record.Rollback && j.isTracked() && !now.Rollback {
		j.broke("rollback", "a rollback is forgotten")
	}
	if !now.Rollback || record.Rollback {
		return
	}
	if !j.isLate() && !j.isRefuted() || j.anySuperseded() || !j.failsBack() || j.isPaused() || now.Failure == nil {
		j.broke("rollback", "the update is rolled back for %+v, with the members %v at it", now.Failure, j.updatedMembers())
	}
}

// stepsEnd: while an update goes by steps, or goes back, the set is not ready.
func (j *judged) stepsEnd() {
	if _, inSteps := j.step(); !inSteps && !j.goesBack() || j.undecided() || len(j.ordinals) == 0 {
		return
	}
	if ready := j.says(v1.StatefulSetReady); ready.Status == corev1.ConditionTrue {
		j.broke("ready", "Ready is true at %+v", j.Set.Status.Rollout)
	}
}

// isRollingBack: members at an update that is rolled back are taken as soon as there is room, and
// no gate is to agree first, if what they go back to names nothing that is lacking or yet to be
// read. Where they may only go in place and cannot, the set says so.
func (j *judged) rollsBack() {
	if !j.goesBack() || j.rests() || j.undecided() || j.Set.DeletionTimestamp != nil || j.changesMembership() || len(j.surplus()) > 0 ||
		len(j.actions()) > 0 {
		return
	}
	for _, ordinal := range j.ordinals {
		if !j.serves(ordinal) || len(j.Set.Status.Replacements) > 0 || j.growsInPlace() {
			return
		}
	}
	left := j.updatedMembers()
	isHeldUp := func(ordinal int) bool {
		gate := j.disagrees(j.member(ordinal))
		return gate != "" || j.isUnrenderableAt(j.Set.Status.CurrentRevision, ordinal)
	}
	isForbidden := j.inPlacePolicy() == v1.OnlyInPlaceUpdatePolicyType && j.says(v1.StatefulSetStalled).Reason == v1.ReasonInPlaceImpossible
	if len(left) > 0 && !isForbidden && !slices.ContainsFunc(left, isHeldUp) {
		j.broke("rolls back", "the members %v stay at an update that is rolled back", left)
	}
}
