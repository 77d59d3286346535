// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// failsBack reports whether an update that fails is rolled back.
func (f *facts) failsBack() bool {
	rolling := f.rolling()
	return rolling != nil && rolling.FailurePolicy != nil && *rolling.FailurePolicy == v1.RollbackRolloutFailurePolicy
}

// isAborted reports whether somebody has aborted the update.
func (f *facts) isAborted() bool { return f.rollout != nil && f.rollout.stored.Aborted }

// rollsBack reports whether the members are to be at the current revision, and not at that of
// the template. Superseded members would go back further than that.
func (f *facts) rollsBack() bool {
	r := f.rollout
	return r != nil && !r.begins && (r.stored.Aborted || r.stored.Rollback) && len(r.superseded) == 0
}

// destination is the revision that all members are to have in the end.
func (f *facts) destination() *revision {
	if f.rollsBack() {
		return f.current
	}
	return f.update
}

// windClock finds out since when nothing has become better with the members that the update
// has reached. As long as one of them has yet to be created, or the bake is over, or the
// update is not to go on, the clock stands.
func (f *facts) windClock(p *progress) {
	stored := &f.rollout.stored
	available := 0
	for _, m := range p.updated {
		if !f.unavailable(m) {
			available++
		}
	}
	p.most = available
	if f.paused() || p.baked || f.isAborted() || stored.Rollback || f.awaitsMembers() {
		return
	}
	if f.sameStep(p) && stored.ProgressTime != nil && available <= int(stored.MostAvailable) {
		p.clock, p.most = stored.ProgressTime, int(stored.MostAvailable)
		if at := lastChange(p.updated); at.After(p.clock.Time) {
			p.clock = &metav1.Time{Time: at}
		}
		return
	}
	p.clock = &metav1.Time{Time: f.Now.Truncate(time.Second)}
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
		at = at.Add(time.Duration(p.step.BakeSeconds) * time.Second)
	}
	return at
}

// rolloutFailure says why the update has failed, nil if it has not. Whoever writes
// conditions may write False before it knows, so that counts only after the bake, or if all
// were True before. As long as they are Unknown the update waits.
func (f *facts) rolloutFailure(p *progress) *reason {
	if f.rests() || !f.judges() {
		return nil
	}
	for _, m := range p.updated {
		for _, name := range p.step.PodConditions {
			if says(m.pod, name) == corev1.ConditionFalse && (p.baked || p.passed[m.ordinal]) {
				return &reason{v1.RolloutConditionFalse, fmt.Sprintf("condition %s of pod %s is False", foreignWord(name), m.pod.Name)}
			}
		}
	}
	if p.ailing != nil && p.clock != nil && !f.Now.Before(f.failsAt(p)) {
		return &reason{v1.RolloutDeadlineExceeded, fmt.Sprintf("%s is not available, and nothing has become better since %s, for longer than %s: %s",
			p.ailing.pod.Name, clock(p.clock.Time), f.failsAt(p).Sub(p.clock.Time), diagnose(p.ailing.pod))}
	}
	return nil
}

// failRollout notes that the update is rolled back, if it has failed and is to be. The look
// that reads it begins with that.
func (f *facts) failRollout(next *v1.RolloutStatus) {
	r := f.rollout
	why := r.at.failure
	if why == nil || !f.failsBack() || len(r.superseded) > 0 || r.stored.Aborted || r.stored.Rollback {
		return
	}
	next.Rollback = true
	next.Failure = &v1.RolloutFailure{Reason: why.word, Message: why.message, Time: metav1.NewTime(f.Now.Truncate(time.Second))}
}
