// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"time"

	v1 "statefulset.dev/api/apps/v1"
)

// steps are the steps of the set's updates.
func (f *facts) steps() []v1.RolloutStep {
	if rolling := f.rollingUpdate(); rolling != nil {
		return rolling.Steps
	}
	return nil
}

// goesByRecord reports whether the update changes only the members that its record names: it is
// paused, or at one of its steps.
func (f *facts) goesByRecord() bool {
	return f.rollout != nil && (f.isPaused() || f.rollout.progress.inSteps)
}

// admitsMembers reports whether the update may reach members that it has not reached yet.
func (f *facts) admitsMembers() bool {
	return f.rollout.progress.inSteps && !f.goesNoFurther() && f.rollout.progress.failure == nil
}

// nextReleased are the members that the next status names as reached. Members that run the update
// revision, or that are about to leave the previous one, stay. More members are added up to the
// number of the step. Available ones are added only within the limit of unavailable members,
// because the next sync removes their pods. A member that was named but not removed yet is chosen
// again, because the leader may have changed. Superseded members that are broken are added
// regardless of the step: they have no other revision to return to.
func (f *facts) nextReleased() map[int]bool {
	r := f.rollout
	next := map[int]bool{}
	for _, m := range f.members {
		if r.released[m.ordinal] && f.staysReached(m) {
			next[m.ordinal] = true
		}
	}
	f.keepUnseen(next)
	if !f.admitsMembers() {
		return next
	}
	budget := f.maxUnavailable() - (f.roster.Len() - f.available)
	for m := range f.inReleaseOrder() {
		switch broken := m.pod != nil && isBroken(m.pod); {
		case next[m.ordinal]:
		case broken && r.superseded[m.ordinal]:
			next[m.ordinal] = true
		case len(next) >= r.progress.quota:
		case f.isUnavailable(m):
			next[m.ordinal] = true
		case budget > 0:
			next[m.ordinal] = true
			budget--
		default:
			return next // a later member that is briefly unavailable must not become the canary
		}
	}
	return next
}

// staysReached reports whether a member that the update has reached stays named without being
// chosen again.
func (f *facts) staysReached(m member) bool {
	if m.pod == nil {
		return !f.admitsMembers()
	}
	return isTerminating(m.pod) || revisionOf(m.pod) == f.update.name
}

// keepUnseen keeps members without a pod that this sync does not deal with.
func (f *facts) keepUnseen(next map[int]bool) {
	if len(f.members) == f.roster.Len() {
		return
	}
	seen := make(map[int]bool, len(f.members))
	for _, m := range f.members {
		seen[m.ordinal] = true
	}
	for ordinal := range f.rollout.released {
		if !seen[ordinal] {
			next[ordinal] = true
		}
	}
}

// inReleaseOrder are the desired members in the order in which an update reaches them. First come
// members that have been broken for so long that the set replaces them, because an ordered set
// creates no other members until then. Then come superseded members, members that were removed for
// the update and have yet to return, and finally all others.
func (f *facts) inReleaseOrder() iter.Seq[member] {
	tier := func(m member) int {
		switch {
		case f.isBrokenForLong(m):
			return 0
		case f.rollout.superseded[m.ordinal]:
			return 1
		case m.pod == nil && f.rollout.released[m.ordinal]:
			return 2
		default:
			return 3
		}
	}
	return func(yield func(member) bool) {
		for turn := range 4 {
			for m := range f.inUpdateOrder() {
				if tier(m) == turn && !yield(m) {
					return
				}
			}
		}
	}
}

// isBrokenForLong reports whether a member has been broken for longer than the set waits for
// members that an update could fix.
func (f *facts) isBrokenForLong(m member) bool {
	timeout, asked := f.replaceUnreadyAfter()
	return asked && m.pod != nil && isBroken(m.pod) && !f.world.Now.Before(brokenSince(m.pod).Add(timeout))
}

// nextBrokenForLong is the time until isBrokenForLong becomes true for a member that the step has
// not reached, zero if there is none.
func (f *facts) nextBrokenForLong() (left time.Duration) {
	timeout, asked := f.replaceUnreadyAfter()
	if !asked || !f.rollout.progress.inSteps {
		return 0
	}
	for _, m := range f.members {
		if m.pod != nil && isBroken(m.pod) && !f.rollout.released[m.ordinal] {
			left = soonest(left, max(brokenSince(m.pod).Add(timeout).Sub(f.world.Now), 0))
		}
	}
	return left
}

// awaitsRelease reports whether the update is about to reach a member without a pod. The member is
// created only after the status records that, because otherwise its pod would be removed at once.
func (f *facts) awaitsRelease(m member) bool {
	r := f.rollout
	return r != nil && m.pod == nil && r.nextReleased[m.ordinal] && f.targetRevision(m) != f.update && f.admitsMembers()
}
