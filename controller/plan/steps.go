// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
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
