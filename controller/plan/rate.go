// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
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
	strategy := f.Set.Spec.ScaleStrategy
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
// fewer are terminating than may be.
func removeInTurn(f *facts, d *draft) {
	limit, bounded := f.removalRate()
	for _, m := range f.condemned {
		if isTerminating(m.pod) {
			limit--
		}
	}
	for _, m := range f.condemned {
		switch {
		case isTerminating(m.pod), d.waitForOwners(f, m):
		case bounded && limit <= 0:
			d.wait("pod %s is removed when others that are not wanted are gone", m.pod.Name)
			return
		default:
			condemn(f, d, m)
			limit--
		}
	}
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
		if left := m.pod.CreationTimestamp.Add(f.progressDeadline()).Sub(f.Now); left > 0 {
			f.starting++
			f.startingFor = soonest(f.startingFor, left)
		}
	}
}

// nextRate is how long it takes until one of the members that are starting does not count any
// more, if others wait for it; zero if none do.
func (f *facts) nextRate() time.Duration {
	if f.frozen() || f.Set.DeletionTimestamp != nil || f.existing() >= f.roster.Len() {
		return 0
	}
	return f.startingFor
}

// progressDeadline is for how long the set may take for a step.
func (f *facts) progressDeadline() time.Duration {
	if seconds := f.Set.Spec.ProgressDeadlineSeconds; seconds != nil {
		return v1.Seconds(*seconds)
	}
	return v1.DefaultProgressDeadlineSeconds * time.Second
}
