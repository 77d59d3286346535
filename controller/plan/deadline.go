// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// windClock finds out since when the members that the update has reached have had time to
// become better. The clock begins when one of them is not available, or when as many as the step
// asks for are and have yet to bake, and begins anew when more are available than ever in the
// step. Otherwise the update waits for something else than these, and the clock stands; so it
// does when the update is not to go on, and while a member has yet to be created, unless one that exists
// is unavailable: others may wait for that one. One that
// comes and goes is available, too, so that a clock which runs does not stop for less than the
// deadline.
func (f *facts) windClock(p *progress) {
	stored, available := &f.rollout.stored, f.countAvailable(p.updated)
	p.most = available
	if p.baked || f.goesNoFurther() || p.culprit == nil && f.awaitsMembers() {
		return
	}
	best := 0
	if f.sameStep(p) {
		best = int(stored.MostAvailable)
	}
	if len(p.updated) < p.quota {
		p.most = max(available, best)
	}
	switch running := f.sameStep(p) && stored.ProgressTime != nil && available <= best && !f.hadBaked(p); {
	case running && !f.isSteady(p):
		p.clock, p.most = stored.ProgressTime, best
		if at := lastChange(p.updated); at.After(p.clock.Time) {
			p.clock = &metav1.Time{Time: at}
		}
	case p.culprit != nil || p.baking != nil:
		p.clock = &metav1.Time{Time: f.world.Now.Truncate(time.Second)}
	}
}

// goesNoFurther reports whether the update is not to go on, whatever becomes of its members.
func (f *facts) goesNoFurther() bool {
	return f.paused() || f.isAborted() || f.rollout.stored.Rollback
}

func (f *facts) countAvailable(members []member) (count int) {
	for _, m := range members {
		if !f.unavailable(m) {
			count++
		}
	}
	return count
}

// hadBaked reports whether the members had baked by the time at which one of them ceased to be
// available, although nobody has looked in between.
func (f *facts) hadBaked(p *progress) bool {
	since := f.rollout.stored.BakeStartTime
	if since == nil || !f.sameStep(p) {
		return false
	}
	end := since.Add(v1.Seconds(p.step.BakeSeconds))
	changed := func(m member) bool {
		at := notReadySince(m.pod)
		return at.After(since.Time) && at.Time.Before(end)
	}
	return !f.world.Now.Before(end) && !slices.ContainsFunc(p.updated, changed)
}

// isSteady reports whether all members that the update has reached are available, and have been
// for so long that none of them comes and goes.
func (f *facts) isSteady(p *progress) bool {
	at, ok := f.steadyAt(p)
	return ok && !f.world.Now.Before(at)
}

// steadyAt is when that is so of members that are available now, and false if they are not, or
// if it makes no difference because they bake.
func (f *facts) steadyAt(p *progress) (at time.Time, ok bool) {
	if p.ailing != nil || p.baking != nil {
		return time.Time{}, false
	}
	for _, m := range p.updated {
		since, _ := f.availableAt(m.pod)
		at = latest(at, since.Add(f.progressDeadline()))
	}
	return at, true
}

// lastChange is when the last of members was changed whose containers are being restarted,
// zero if there are none. Of one that is recreated, the clock stands as long as it has no pod.
func lastChange(members []member) (last time.Time) {
	for _, m := range members {
		last = latest(last, noteOf(m.pod).begun())
	}
	return last
}

// awaitsMembers reports whether a member that the update has reached has no pod, or one that
// is about to go. One that has ended by itself counts as not available.
func (f *facts) awaitsMembers() bool {
	for _, m := range f.members {
		if (f.rollout.released[m.ordinal] || !f.goesByRecord()) && (m.pod == nil || isTerminating(m.pod) && !hasFailed(m.pod)) {
			return true
		}
	}
	return false
}

// hasFailed reports whether a pod has ended by itself, and not because the cluster needed its
// place.
func hasFailed(pod *corev1.Pod) bool {
	return isFinished(pod) && says(pod, string(corev1.DisruptionTarget)) != corev1.ConditionTrue
}

// failsAt is when an update has failed unless its members become available.
func (f *facts) failsAt(p *progress) time.Time {
	at := p.clock.Add(f.progressDeadline())
	if p.most >= p.quota {
		at = at.Add(v1.Seconds(p.step.BakeSeconds))
	}
	return at
}
