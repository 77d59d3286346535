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
	// These are the first updated member that is not available, and the first one that is not
	// available although the controller has not taken it out of service, nil if there is none.
	ailing, culprit *member
	// baking is since when the members of the step are available without a break, nil if they are
	// not. baked is true if that is long enough.
	baking *metav1.Time
	baked  bool
	// passed are the members whose conditions have all been True in this step.
	passed map[int]bool
	// unmet is the first required condition that is not True, with its member.
	unmet *condition
	// clock is since when the updated members have made no progress, nil if the update waits for
	// something else. most is how many of them were available at the same time in this step.
	clock *metav1.Time
	most  int
	// failure says why the update has failed, nil if it has not.
	failure *reason
}

// condition is a pod condition that a step requires, with its member.
type condition struct {
	m    member
	name string
}

// standingOfRollout determines the state of the update.
func (f *facts) standingOfRollout() progress {
	p := f.stepNow()
	for _, m := range f.members {
		if m.pod == nil || isTerminating(m.pod) || revisionOf(m.pod) != f.update.name {
			continue
		}
		p.updated = append(p.updated, m)
		if !f.unavailable(m) {
			continue
		}
		if p.ailing == nil {
			p.ailing = &m
		}
		if p.culprit == nil && !f.drained(m) {
			p.culprit = &m
		}
	}
	f.bake(&p)
	f.readConditions(&p)
	f.windClock(&p)
	p.failure = f.rolloutFailure(&p)
	return p
}

// stepNow is the current step of the update according to the status.
func (f *facts) stepNow() progress {
	steps, stored := f.steps(), &f.rollout.stored
	p := progress{number: min(max(int(stored.Step), 1), len(steps)+1), quota: f.roster.Len()}
	if stored.PromotedAll && !f.rollout.begins && len(steps) > 0 {
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
	return !f.rollout.begins && int(f.rollout.stored.Step) == p.number
}

// bake determines since when all members at the update revision are available, if they are as many
// as the step requires. A member that became available later counts from then, whatever the status
// says.
func (f *facts) bake(p *progress) {
	if p.ailing != nil || len(p.updated) < p.quota || len(p.updated) == 0 {
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
		f.keep(known, f.rollout.stored.Passed)
	}
	for _, m := range p.updated {
		missing := slices.IndexFunc(p.step.PodConditions, func(name string) bool { return says(m.pod, name) != corev1.ConditionTrue })
		if missing >= 0 && p.unmet == nil {
			p.unmet = &condition{m, p.step.PodConditions[missing]}
		}
		if !f.unavailable(m) && (missing < 0 || known[m.ordinal]) {
			p.passed[m.ordinal] = true
		}
	}
}

// says is the status of a condition of a pod, Unknown if the pod does not have the condition.
func says(pod *corev1.Pod, kind string) corev1.ConditionStatus {
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

// at is the record of the state of an update for the status.
func (f *facts) at(p progress) *v1.RolloutStatus {
	next := &v1.RolloutStatus{Step: int32(p.number)}
	if !f.judges() {
		return next
	}
	if p.isDone(f.rollout.stored.PromotedStep) && !f.rests() && !f.rollsBack() {
		next.Step++
		return next
	}
	next.BakeStartTime, next.ProgressTime, next.MostAvailable, next.Passed = p.baking, p.clock, int32(p.most), f.rangesOf(p.passed)
	return next
}

// judges reports whether the health of the updated members matters.
func (f *facts) judges() bool { return len(f.steps()) > 0 || f.failsBack() }

// nextStepLook is the time until the bake ends, the update fails, or its clock stops, zero if none
// of these is due to time.
func (f *facts) nextStepLook() time.Duration {
	if f.frozen() || f.rollout == nil || !f.judges() || f.rests() || f.rollsBack() {
		return 0
	}
	p := &f.rollout.at
	next := f.nextBrokenForLong()
	switch {
	case p.baking != nil && !p.baked && p.inSteps:
		next = soonest(next, f.bakedAt(p).Sub(f.world.Now))
	case p.clock == nil, p.failure != nil:
	case p.culprit != nil:
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
	stored.PromotedStep = int32(countLeading(now, firstOf(before, int(stored.PromotedStep)))) //nolint:gosec // there are few steps
	if stored.Step == 0 {
		return
	}
	number := int(stored.Step)
	next := countLeading(now, firstOf(before, number-1)) + 1
	stored.Step = int32(next) //nolint:gosec // there are few steps
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

// tellRollout reports an update that has failed, is being rolled back, or cannot be rolled back.
func tellRollout(f *facts, d *draft) verdict {
	r := f.rollout
	if r == nil {
		return proceed
	}
	switch {
	case f.rollsBack() && f.isRolledBack():
		d.blocked(v1.ReasonRolledBack,
			"the update to %s was rolled back: %s; change spec.template, or retry the update with kubectl sts rollout restart%s", f.update.name,
			f.whyRolledBack(), f.unavailableText())
	case f.paused():
	case f.rollsBack():
		d.warn(v1.ReasonRollingBack, "the update to %s is being rolled back: %s", f.update.name, f.whyRolledBack())
	case f.isAborted() && len(r.superseded) > 0:
		message := fmt.Sprintf(
			"the update to %s was aborted and cannot be rolled back, because %s; change spec.template, or continue the update: %s", f.update.name,
			f.neverCompleted(), decision.GoOn(f.world.Set))
		d.warn(v1.ReasonRolloutFailed, "%s", message)
		d.blocked(v1.ReasonRolloutFailed, "%s", message)
	case r.at.failure != nil:
		message := f.rolloutText() + ": " + r.at.failure.message
		if f.failsBack() && len(r.superseded) > 0 {
			message += "; it cannot be rolled back, because " + f.neverCompleted()
		}
		d.warn(v1.ReasonRolloutFailed, "%s", message)
		d.blocked(v1.ReasonRolloutFailed, "%s", message)
	}
	return proceed
}

// isRolledBack reports whether all members that the update had reached have returned to the current
// revision.
func (f *facts) isRolledBack() bool { return len(f.rollout.let) == 0 }

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
	p := &f.rollout.at
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
	if f.rollout == nil || len(f.steps()) == 0 && f.paused() {
		return "", ""
	}
	p := &f.rollout.at
	text = f.rolloutText()
	switch {
	case f.roster.Len() == 0, !p.inSteps && !f.rollout.begins && !f.rollsBack():
		return "", "" // the members determine what remains to be done
	case f.rollsBack():
		return v1.ReasonRollingBack, fmt.Sprintf("the update to %s is being rolled back: %s", f.update.name, f.whyRolledBack())
	case f.paused():
		return v1.ReasonPaused, text
	case p.baking == nil:
		return v1.ReasonUpdating, text
	case !p.baked:
		return v1.ReasonBaking, text + ", baking until " + words.Clock(f.bakedAt(p))
	case p.unmet != nil:
		return v1.ReasonWaitingForConditions,
			fmt.Sprintf("%s, waiting for condition %s of pod %s", text, words.Foreign(p.unmet.name), p.unmet.m.pod.Name)
	case !p.isDone(f.rollout.stored.PromotedStep):
		return v1.ReasonWaitingForPromotion,
			fmt.Sprintf("%s, waiting for approval: kubectl sts rollout promote --step=%d", text, p.number)
	default:
		return v1.ReasonUpdating, text
	}
}
