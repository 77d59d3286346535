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

// rate is how many members of a Parallel set may start at a time, at least one. It is false if that
// is not limited. An ordered set has its own pace.
func (f *facts) rate() (limit int, bounded bool) { return f.shareOf(f.roster.Len()) }

// removalRate is how many members of a Parallel set may be removed at a time, like rate. A
// percentage refers to the existing members if there are more of them than desired ones: otherwise
// it would be a share of only the few that stay.
func (f *facts) removalRate() (limit int, bounded bool) {
	return f.shareOf(max(f.roster.Len(), f.existing()+len(f.condemned)))
}

// shareOf is how many of a number of members the scale strategy allows.
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

// createInTurn creates a member that has no pod, unless the limit of starting members is reached.
func createInTurn(f *facts, d *draft, m member) {
	limit, bounded := f.rate()
	if bounded && f.starting+d.started >= limit {
		d.wait("pod %s is created when fewer than %d members are starting", f.podName(m), limit)
		d.requeueAfter(f.nextRate())
		return
	}
	if f.awaitsRelease(m) {
		d.wait("pod %s waits for status.rollout to record revision %s", f.podName(m), f.update.name)
		d.started++ // the next sync creates it
		return
	}
	planned := len(d.chains)
	create(f, d, m)
	if len(d.chains) > planned {
		d.started++
	}
}

// removeInTurn removes surplus members, the highest ordinals first, up to the limit of terminating
// pods. A pod that terminates for longer than the deadline of the set does not count: a pod on a
// dead node would block all others.
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

// terminating is the number of surplus pods for whose termination others wait, and the pods that
// should have terminated by now.
func (f *facts) terminating() (ending int, late []*corev1.Pod) {
	for _, m := range f.condemned {
		if !isTerminating(m.pod) {
			continue
		}
		ending += boolToInt(f.world.Now.Before(f.awaitedUntil(m.pod)))
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

// turnText says for which pods the removal of a member waits, and until when. It names a pod that
// should have terminated by now, whether or not others still wait for it.
func (f *facts) turnText(m member, late []*corev1.Pod) string {
	text := fmt.Sprintf("pod %s waits for other surplus pods to terminate", m.pod.Name)
	if len(late) == 0 {
		return text
	}
	if until := f.awaitedUntil(late[0]); f.world.Now.Before(until) {
		text = fmt.Sprintf("pod %s is removed when pod %s has terminated, or at %s", m.pod.Name, late[0].Name, words.Timestamp(until))
	}
	return text + ": " + lateEnd(late[0])
}

// countStarting counts the members that are about to become available. A member that takes longer
// than the deadline of the set does not count: it would block the start of all others.
func (f *facts) countStarting() {
	if _, bounded := f.rate(); !bounded {
		return
	}
	for _, m := range f.members {
		if m.pod == nil || !f.isUnavailable(m) {
			continue
		}
		if left := m.pod.CreationTimestamp.Add(f.progressDeadline()).Sub(f.world.Now); left > 0 {
			f.starting++
			f.startingFor = soonest(f.startingFor, left)
		}
	}
}

// nextRate is the time until a member no longer waits for others that are starting or terminating,
// zero if none waits.
func (f *facts) nextRate() time.Duration {
	switch {
	case f.isFrozen() || f.world.Set.DeletionTimestamp != nil:
		return 0
	case f.existing() >= f.roster.Len():
		return f.nextRemoval()
	default:
		return soonest(f.nextRemoval(), f.startingFor)
	}
}

// nextRemoval is like nextRate, for surplus members.
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

// progressDeadline is how long the set may go without progress.
func (f *facts) progressDeadline() time.Duration {
	if seconds := f.world.Set.Spec.ProgressDeadlineSeconds; seconds != nil {
		return v1.Seconds(*seconds)
	}
	return v1.DefaultProgressDeadlineSeconds * time.Second
}
