// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// rate is how many members of a Parallel set may start at a time, at least one; false if that is not
// bounded. An ordered set has a pace of its own.
func (f *facts) rate() (limit int, bounded bool) { return f.shareOf(f.roster.Len()) }

// removalRate is how many members of a Parallel set may be removed at a time, as rate. A percentage
// counts the members that exist, if these are more than the set wants: it would be one of few otherwise.
func (f *facts) removalRate() (limit int, bounded bool) {
	return f.shareOf(max(f.roster.Len(), f.existing()+len(f.condemned)))
}

// shareOf is what the scale strategy allows of so many members.
func (f *facts) shareOf(members int) (limit int, bounded bool) {
	strategy := f.world.Set.Spec.ScaleStrategy
	if f.ordered || strategy == nil || strategy.MaxUnavailable == nil {
		return 0, false
	}
	value, err := intstr.GetScaledValueFromIntOrPercent(strategy.MaxUnavailable, members, false)
	if err != nil {
		return 1, true
	}
	return max(value, 1), true
}

// createInTurn creates a member that has no pod, unless as many are starting as may be.
func createInTurn(f *facts, d *draft, m member) {
	limit, bounded := f.rate()
	if bounded && f.starting+d.started >= limit {
		d.wait("pod %s is created when fewer than %d members are starting", f.podName(m), limit)
		d.again(f.nextRate())
		return
	}
	if f.awaitsRelease(m) {
		d.wait("pod %s is created at revision %s when the status says so", f.podName(m), f.update.name)
		d.started++ // its turn comes at the next look
		return
	}
	planned := len(d.chains)
	create(f, d, m)
	if len(d.chains) > planned {
		d.started++
	}
}

// removeInTurn removes members that are not wanted, the highest ordinals first, as long as
// fewer are terminating than may be. A pod that terminates for longer than the set's deadline does
// not count, or one on a dead node would keep all others.
func removeInTurn(f *facts, d *draft) {
	limit, bounded := f.removalRate()
	ending, late := f.terminating()
	limit -= ending
	for _, m := range f.condemned {
		switch {
		case isTerminating(m.pod), d.waitForOwners(f, m):
		case bounded && limit <= 0:
			d.wait("%s", f.turnText(m, late))
			return
		default:
			condemn(f, d, m)
			limit--
		}
	}
	if len(late) > 0 {
		d.wait("%s", lateEnd(late[0]))
	}
}

// terminating is the number of surplus pods that terminate and for which others wait, and those that
// should be gone by now.
func (f *facts) terminating() (ending int, late []*corev1.Pod) {
	for _, m := range f.condemned {
		if !isTerminating(m.pod) {
			continue
		}
		ending += one(f.world.Now.Before(f.awaitedUntil(m.pod)))
		if !f.world.Now.Before(suspicious(m.pod)) {
			late = append(late, m.pod)
		}
	}
	return ending, late
}

// awaitedUntil is until when others wait for the end of a terminating pod.
func (f *facts) awaitedUntil(pod *corev1.Pod) time.Time {
	return pod.DeletionTimestamp.Add(f.progressDeadline())
}

// turnText says for which pods the removal of a member waits, and until when. A pod that should be gone
// is named, whether or not others still wait for it.
func (f *facts) turnText(m member, late []*corev1.Pod) string {
	text := fmt.Sprintf("pod %s is removed when others that are not wanted are gone", m.pod.Name)
	if len(late) == 0 {
		return text
	}
	if until := f.awaitedUntil(late[0]); f.world.Now.Before(until) {
		text = fmt.Sprintf("pod %s is removed when pod %s is gone, or at %s", m.pod.Name, late[0].Name, words.Clock(until))
	}
	return text + ": " + lateEnd(late[0])
}

// countStarting counts the members that are on their way to become available. One that takes
// longer than the set's deadline does not count, or it would keep all others from starting.
func (f *facts) countStarting() {
	if _, bounded := f.rate(); !bounded {
		return
	}
	for _, m := range f.members {
		if m.pod == nil || !f.unavailable(m) {
			continue
		}
		if left := m.pod.CreationTimestamp.Add(f.progressDeadline()).Sub(f.world.Now); left > 0 {
			f.starting++
			f.startingFor = soonest(f.startingFor, left)
		}
	}
}

// nextRate is how long it takes until a member need not wait for others any more that are starting or
// on their way out; zero if none waits.
func (f *facts) nextRate() time.Duration {
	switch {
	case f.frozen() || f.world.Set.DeletionTimestamp != nil:
		return 0
	case f.existing() >= f.roster.Len():
		return f.nextRemoval()
	default:
		return soonest(f.nextRemoval(), f.startingFor)
	}
}

// nextRemoval is that of surplus members.
func (f *facts) nextRemoval() (next time.Duration) {
	if !slices.ContainsFunc(f.condemned, func(m member) bool { return !isTerminating(m.pod) }) {
		return 0
	}
	_, bounded := f.rate()
	for _, m := range f.condemned {
		at, broken := f.hopelessAt(m)
		switch {
		case bounded && isTerminating(m.pod):
			at = f.awaitedUntil(m.pod)
		case !f.ordered || !broken || isTerminating(m.pod):
			continue
		}
		next = soonest(next, max(at.Sub(f.world.Now), 0))
	}
	return next
}

// progressDeadline is for how long the set may take for a step.
func (f *facts) progressDeadline() time.Duration {
	if seconds := f.world.Set.Spec.ProgressDeadlineSeconds; seconds != nil {
		return v1.Seconds(*seconds)
	}
	return v1.DefaultProgressDeadlineSeconds * time.Second
}
