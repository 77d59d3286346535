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

// findProgressTime determines since when the members that the update has reached have had time to
// become available. The time starts when one of them is not available, or when as many as the step
// requires are available and have yet to bake. It restarts when more of them are available than
// ever before in the step. Otherwise the update waits for something other than these members, and
// there is no progressTime. There is none either when the update must not continue, or while a
// member has yet to be created, unless an existing one is unavailable: others may wait for that
// one. A pod that alternates between ready and not ready counts as available at times, so a
// recorded progressTime is cleared only when all have been available for the deadline.
func (f *facts) findProgressTime(p *progress) {
	stored, available := &f.rollout.stored, f.countAvailable(p.updated)
	p.most = available
	if p.baked || f.goesNoFurther() || p.firstUnexpected == nil && f.awaitsMembers() {
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
		p.progressTime, p.most = stored.ProgressTime, best
		if at := lastChange(p.updated); at.After(p.progressTime.Time) {
			p.progressTime = &metav1.Time{Time: at}
		}
	case p.firstUnexpected != nil || p.baking != nil:
		p.progressTime = &metav1.Time{Time: f.world.Now.Truncate(time.Second)}
	}
}

// goesNoFurther reports whether the update must not continue, regardless of the state of its
// members.
func (f *facts) goesNoFurther() bool {
	return f.isPaused() || f.isAborted() || f.rollout.stored.Rollback
}

func (f *facts) countAvailable(members []member) (count int) {
	for _, m := range members {
		if !f.isUnavailable(m) {
			count++
		}
	}
	return count
}

// hadBaked reports whether the members had finished baking before one of them became unavailable,
// although no sync happened in between.
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

// isSteady reports whether all members that the update has reached are available, and have been for
// so long that none of them alternates between ready and not ready.
func (f *facts) isSteady(p *progress) bool {
	at, ok := f.steadyAt(p)
	return ok && !f.world.Now.Before(at)
}

// steadyAt is when members that are available now count as steady. It reports false if some are not
// available, or if it makes no difference because they bake.
func (f *facts) steadyAt(p *progress) (at time.Time, ok bool) {
	if p.firstUnavailable != nil || p.baking != nil {
		return time.Time{}, false
	}
	for _, m := range p.updated {
		since, _ := f.availableAt(m.pod)
		at = latest(at, since.Add(f.progressDeadline()))
	}
	return at, true
}

// lastChange is when the last in-place update that is under way for the members began, zero if none
// is. While a member that is recreated has no pod, there is no progressTime.
func lastChange(members []member) (last time.Time) {
	for _, m := range members {
		last = latest(last, noteOf(m.pod).begun())
	}
	return last
}

// awaitsMembers reports whether a member that the update has reached has no pod, or one that is
// terminating. A pod that has ended by itself counts as unavailable instead.
func (f *facts) awaitsMembers() bool {
	for _, m := range f.members {
		if (f.rollout.released[m.ordinal] || !f.goesByRecord()) && (m.pod == nil || isTerminating(m.pod) && !hasFailed(m.pod)) {
			return true
		}
	}
	return false
}

// hasFailed reports whether a pod has ended by itself, and not because the cluster needed its
// resources.
func hasFailed(pod *corev1.Pod) bool {
	return isFinished(pod) && conditionStatus(pod, string(corev1.DisruptionTarget)) != corev1.ConditionTrue
}

// failsAt is when the update fails unless its members become available.
func (f *facts) failsAt(p *progress) time.Time {
	at := p.progressTime.Add(f.progressDeadline())
	if p.most >= p.quota {
		at = at.Add(v1.Seconds(p.step.BakeSeconds))
	}
	return at
}
