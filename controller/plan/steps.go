// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
	"statefulset.dev/identity/decision"
)

// progress is the state of an update that has a record.
type progress struct {
	// number is the current step of the update. inSteps is false if the update has no steps, or is
	// past the last one: then all members are updated without further requirements.
	number  int
	inSteps bool
	step    v1.RolloutStep
	// quota is how many members the step brings to the update revision.
	quota int
	// updated are the members whose pods are at the update revision.
	updated []member
	// firstUnavailable is the first updated member that is not available. firstUnexpected is the
	// first one that is not available although the controller has not taken it out of service. Each
	// is nil if there is none.
	firstUnavailable, firstUnexpected *member
	// baking is since when the members of the step are available without a break, nil if they are
	// not. baked is true if that is long enough.
	baking *metav1.Time
	baked  bool
	// passed are the members whose conditions have all been True in this step.
	passed map[int]bool
	// unmet is the first required condition that is not True, with its member.
	unmet *condition
	// progressTime is since when the updated members have made no progress, nil if the update waits
	// for something else. most is how many of them were available at the same time in this step.
	progressTime *metav1.Time
	most         int
	// failure says why the update has failed, nil if it has not.
	failure *reason
}

// condition is a pod condition that a step requires, with its member.
type condition struct {
	m    member
	name string
}

// rolloutProgress determines the state of the update.
func (f *facts) rolloutProgress() progress {
	p := f.stepNow()
	for _, m := range f.members {
		if m.pod == nil || isTerminating(m.pod) || revisionOf(m.pod) != f.update.name {
			continue
		}
		p.updated = append(p.updated, m)
		if !f.isUnavailable(m) {
			continue
		}
		if p.firstUnavailable == nil {
			p.firstUnavailable = &m
		}
		if p.firstUnexpected == nil && !f.isLeavingUnbroken(m) {
			p.firstUnexpected = &m
		}
	}
	f.bake(&p)
	f.readConditions(&p)
	f.findProgressTime(&p)
	p.failure = f.rolloutFailure(&p)
	return p
}

// stepNow is the current step of the update according to the status.
func (f *facts) stepNow() progress {
	steps, stored := f.steps(), &f.rollout.stored
	p := progress{number: min(max(int(stored.Step), 1), len(steps)+1), quota: f.roster.Len()}
	if stored.PromotedAll && !f.rollout.unrecorded && len(steps) > 0 {
		p.number = len(steps) + 1
	}
	if p.number > len(steps) {
		return p
	}
	p.inSteps, p.step, p.quota = true, steps[p.number-1], 0
	for _, step := range steps[:p.number] {
		share, err := intstr.GetScaledValueFromIntOrPercent(&step.Updated, f.roster.Len(), true)
		if err == nil {
			p.quota = max(p.quota, min(share, f.roster.Len()))
		}
	}
	return p
}

// sameStep reports whether the record in the status is about this step.
func (f *facts) sameStep(p *progress) bool {
	return !f.rollout.unrecorded && int(f.rollout.stored.Step) == p.number
}

// bake determines since when all members at the update revision are available, if they are as many
// as the step requires. A member that became available later counts from then, whatever the status
// says.
func (f *facts) bake(p *progress) {
	if p.firstUnavailable != nil || len(p.updated) < p.quota || len(p.updated) == 0 {
		return
	}
	since := metav1.NewTime(f.world.Now.Truncate(time.Second))
	if stored := f.rollout.stored.BakeStartTime; stored != nil && f.sameStep(p) {
		since = *stored
	}
	for _, m := range p.updated {
		if at, ok := f.availableAt(m.pod); ok && at.After(since.Time) {
			since = metav1.NewTime(at.Truncate(time.Second))
		}
	}
	p.baking = &since
	p.baked = !f.world.Now.Before(f.bakedAt(p))
}

func (f *facts) bakedAt(p *progress) time.Time {
	return p.baking.Add(v1.Seconds(p.step.BakeSeconds))
}

// readConditions reads the conditions that the step requires.
func (f *facts) readConditions(p *progress) {
	if len(p.step.PodConditions) == 0 {
		return
	}
	p.passed = map[int]bool{}
	known := map[int]bool{}
	if f.sameStep(p) {
		f.addRanges(known, f.rollout.stored.Passed)
	}
	for _, m := range p.updated {
		missing := slices.IndexFunc(p.step.PodConditions, func(name string) bool { return conditionStatus(m.pod, name) != corev1.ConditionTrue })
		if missing >= 0 && p.unmet == nil {
			p.unmet = &condition{m, p.step.PodConditions[missing]}
		}
		if !f.isUnavailable(m) && (missing < 0 || known[m.ordinal]) {
			p.passed[m.ordinal] = true
		}
	}
}

// conditionStatus is the status of a condition of a pod, Unknown if the pod does not have the
// condition.
func conditionStatus(pod *corev1.Pod, kind string) corev1.ConditionStatus {
	if c := conditionOf(pod, corev1.PodConditionType(kind)); c != nil {
		return c.Status
	}
	return corev1.ConditionUnknown
}

// isDone reports whether the update may continue with the next step. Without members nothing is
// proven, so no step is done.
func (p *progress) isDone(promoted int32) bool {
	return p.inSteps && p.baked && p.unmet == nil && (p.step.Approval != v1.ManualRolloutStepApproval || int(promoted) >= p.number)
}

// progressRecord is the record of the state of an update for the status.
func (f *facts) progressRecord(p progress) *v1.RolloutStatus {
	next := &v1.RolloutStatus{Step: int32(p.number)}
	if !f.judges() {
		return next
	}
	if p.isDone(f.rollout.stored.PromotedStep) && !f.isRolloutBlocked() && !f.isRollingBack() {
		next.Step++
		return next
	}
	next.BakeStartTime, next.ProgressTime, next.MostAvailable, next.Passed = p.baking, p.progressTime, int32(p.most), f.rangesOf(p.passed)
	return next
}

// judges reports whether the health of the updated members matters.
func (f *facts) judges() bool { return len(f.steps()) > 0 || f.rollsBackOnFailure() }

// nextStepSync is the time until the bake ends, the update fails, or progressTime is cleared, zero
// if none of these is due to time.
func (f *facts) nextStepSync() time.Duration {
	if f.isFrozen() || f.rollout == nil || !f.judges() || f.isRolloutBlocked() || f.isRollingBack() {
		return 0
	}
	p := &f.rollout.progress
	next := f.nextBrokenForLong()
	switch {
	case p.baking != nil && !p.baked && p.inSteps:
		next = soonest(next, f.bakedAt(p).Sub(f.world.Now))
	case p.progressTime == nil, p.failure != nil:
	case p.firstUnexpected != nil:
		next = soonest(next, f.failsAt(p).Sub(f.world.Now))
	default:
		if at, ok := f.steadyAt(p); ok {
			next = soonest(next, at.Sub(f.world.Now))
		}
	}
	return next
}

// matchSteps adapts what the status records about steps to the current steps of the set. If a user
// has changed the steps, the update is at the first step that it has not completed with the same
// content. A step stays approved if it and all steps before it were approved with the same content.
// A record without hashes, of an earlier version, is about the current steps.
func (f *facts) matchSteps(stored *v1.RolloutStatus) {
	before, now := stored.StepHashes, identity.StepHashes(f.steps())
	earlier := len(before) == 0 && (stored.Step > 1 || stored.PromotedStep > 0)
	if earlier || slices.Equal(before, now) {
		return
	}
	stored.PromotedStep = int32(countLeading(now, firstOf(before, int(stored.PromotedStep))))
	if stored.Step == 0 {
		return
	}
	number := int(stored.Step)
	next := countLeading(now, firstOf(before, number-1)) + 1
	stored.Step = int32(next)
	if number > len(before) || next > len(now) || before[number-1] != now[next-1] {
		stored.BakeStartTime, stored.ProgressTime, stored.MostAvailable, stored.Passed = nil, nil, 0, nil
	}
}

// countLeading is how many steps, from the first, are among others. Each of the others counts once.
func countLeading(steps, others []string) (n int) {
	left := slices.Clone(others)
	for _, step := range steps {
		at := slices.Index(left, step)
		if at < 0 {
			break
		}
		left = slices.Delete(left, at, at+1)
		n++
	}
	return n
}

// firstOf are the first n steps, or all of them if there are fewer.
func firstOf(steps []string, n int) []string {
	return steps[:min(max(n, 0), len(steps))]
}

// reportRollout reports an update that has failed, is being rolled back, or cannot be rolled back.
func reportRollout(f *facts, d *draft) verdict {
	r := f.rollout
	if r == nil {
		return proceed
	}
	switch {
	case f.isRollingBack() && f.isRolledBack():
		d.stall(v1.ReasonRolledBack,
			"the update to %s was rolled back: %s; change spec.template, or retry the update with kubectl sts rollout restart%s", f.update.name,
			f.whyRolledBack(), f.unavailableText())
	case f.isPaused():
	case f.isRollingBack():
		d.warn(v1.ReasonRollingBack, "the update to %s is being rolled back: %s", f.update.name, f.whyRolledBack())
	case f.isAborted() && len(r.superseded) > 0:
		message := fmt.Sprintf(
			"the update to %s was aborted and cannot be rolled back, because %s; change spec.template, or continue the update: %s", f.update.name,
			f.neverCompleted(), decision.GoOn(f.world.Set))
		d.warn(v1.ReasonRolloutFailed, "%s", message)
		d.stall(v1.ReasonRolloutFailed, "%s", message)
	case r.progress.failure != nil:
		message := f.rolloutText() + ": " + r.progress.failure.message
		if f.rollsBackOnFailure() && len(r.superseded) > 0 {
			message += "; it cannot be rolled back, because " + f.neverCompleted()
		}
		d.warn(v1.ReasonRolloutFailed, "%s", message)
		d.stall(v1.ReasonRolloutFailed, "%s", message)
	}
	return proceed
}

// isRolledBack reports whether all members that the update had reached have returned to the current
// revision.
func (f *facts) isRolledBack() bool { return len(f.rollout.nextReleased) == 0 }

func (f *facts) whyRolledBack() string {
	switch stored := &f.rollout.stored; {
	case stored.Aborted:
		return f.whoAborted() + " has aborted it"
	case stored.Failure != nil:
		return stored.Failure.Message
	default:
		return "it has failed"
	}
}

// neverCompleted says which members have no revision to return to.
func (f *facts) neverCompleted() string {
	var names []string
	for _, ordinal := range slices.Sorted(maps.Keys(f.rollout.superseded)) {
		if len(names) == words.FewNames {
			names = append(names, "others")
			break
		}
		names = append(names, f.podName(member{ordinal: ordinal}))
	}
	return strings.Join(names, ", ") + " ran a revision that was never completed"
}

// rolloutText describes the state of an update that has steps, or that has failed.
func (f *facts) rolloutText() string {
	p := &f.rollout.progress
	if len(f.steps()) == 0 {
		return fmt.Sprintf("%d of %d members are at %s", len(p.updated), f.roster.Len(), f.update.name)
	}
	at := fmt.Sprintf("step %d/%d", p.number, len(f.steps()))
	if !p.inSteps {
		at = "all steps are done"
	}
	return fmt.Sprintf("%s: %d of %d at %s", at, len(p.updated), f.roster.Len(), f.update.name)
}

// stepState says what an update with steps waits for while it has nothing to do: a reason for
// programs and a message for people. The reason is empty if the set has no such update.
func (f *facts) stepState() (word, text string) {
	if f.rollout == nil || len(f.steps()) == 0 && f.isPaused() {
		return "", ""
	}
	p := &f.rollout.progress
	text = f.rolloutText()
	switch {
	case f.roster.Len() == 0, !p.inSteps && !f.rollout.unrecorded && !f.isRollingBack():
		return "", "" // the members determine what remains to be done
	case f.isRollingBack():
		return v1.ReasonRollingBack, fmt.Sprintf("the update to %s is being rolled back: %s", f.update.name, f.whyRolledBack())
	case f.isPaused():
		return v1.ReasonPaused, text
	case p.baking == nil:
		return v1.ReasonUpdating, text
	case !p.baked:
		return v1.ReasonBaking, text + ", baking until " + words.Timestamp(f.bakedAt(p))
	case p.unmet != nil:
		return v1.ReasonWaitingForConditions,
			fmt.Sprintf("%s, waiting for condition %s of pod %s", text, words.Sanitize(p.unmet.name), p.unmet.m.pod.Name)
	case !p.isDone(f.rollout.stored.PromotedStep):
		return v1.ReasonWaitingForPromotion,
			fmt.Sprintf("%s, waiting for approval: kubectl sts rollout promote --step=%d", text, p.number)
	default:
		return v1.ReasonUpdating, text
	}
}
