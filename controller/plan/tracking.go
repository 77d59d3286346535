// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// rollout is the state of an update of which the status keeps a record, because the pods alone do
// not show how far it may go.
type rollout struct {
	// stored is the record of this update in the status.
	stored v1.RolloutStatus
	// unrecorded is true if the status does not record yet which members the update has reached:
	// nothing that depends on the record is done.
	unrecorded bool
	// released are the members that the update has reached according to the status, and those that
	// have a pod at its revision. superseded are the members without a revision to return to.
	released, superseded map[int]bool
	// nextReleased are the members that the next status names as reached.
	nextReleased map[int]bool
	// progress is the state of the update.
	progress progress
	// next is the record for the next status.
	next *v1.RolloutStatus
}

// findRollout determines the state of an update that has a record.
func (f *facts) findRollout() {
	if !f.isTracked() {
		return
	}
	r := &rollout{released: map[int]bool{}, superseded: map[int]bool{}}
	before := f.world.Set.Status.Rollout
	if before != nil && before.Revision == f.update.name {
		r.stored = *before
		f.matchSteps(&r.stored)
	}
	r.unrecorded = r.stored.Step == 0
	f.rollout = r
	f.findReleased(before)
	r.progress = f.rolloutProgress()
	r.nextReleased = f.nextReleased()
	r.next = f.nextRollout()
}

// isTracked reports whether the status keeps a record of the update. An abort or a rollback stays
// recorded until the template changes, even if the update strategy changes before.
func (f *facts) isTracked() bool {
	if f.current.name == f.update.name {
		return false
	}
	stored := f.world.Set.Status.Rollout
	ended := stored != nil && stored.Revision == f.update.name && (stored.Aborted || stored.Rollback)
	return ended || f.isPaused() || len(f.steps()) > 0 || f.rollsBackOnFailure()
}

// findReleased finds the members that the update has reached: those that the status names, and
// those that have a pod at its revision.
func (f *facts) findReleased(before *v1.RolloutStatus) {
	r := f.rollout
	if !r.unrecorded {
		f.addRanges(r.released, r.stored.Released)
		f.addRanges(r.superseded, r.stored.Superseded)
	}
	for _, m := range f.members {
		switch {
		case m.pod != nil && revisionOf(m.pod) == f.update.name:
			r.released[m.ordinal] = true
		case !r.unrecorded:
		case m.pod == nil && wasReached(before, f.update.name, m):
			r.released[m.ordinal] = true
		case m.pod == nil && wasReleased(before, m), m.pod != nil && revisionOf(m.pod) != f.current.name:
			r.superseded[m.ordinal] = true
		}
	}
	maps.DeleteFunc(r.released, func(ordinal int, _ bool) bool { return !f.isAbovePartition(member{ordinal: ordinal}) })
}

// addRanges adds the desired ordinals of ranges.
func (f *facts) addRanges(to map[int]bool, ranges []v1.OrdinalRange) {
	for _, r := range ranges {
		for ordinal := int(r.First); ordinal <= int(r.End()); ordinal++ {
			if f.roster.Contains(ordinal) {
				to[ordinal] = true
			}
		}
	}
}

// wasReached reports whether a member has no pod because it was removed out of turn for this
// update.
func wasReached(before *v1.RolloutStatus, revision string, m member) bool {
	return before != nil && before.Revision == revision && before.Unblocking != nil && int(*before.Unblocking) == m.ordinal
}

// wasReleased reports whether a member has no pod because it was removed for an update that this
// one has superseded.
func wasReleased(before *v1.RolloutStatus, m member) bool {
	return before != nil && slices.ContainsFunc(before.Released, func(r v1.OrdinalRange) bool { return r.Contains(m.ordinal) })
}

// isRolloutBlocked reports whether no member is changed for the update, whatever its target: the
// update is paused, has yet to be recorded, or was aborted and cannot be rolled back.
func (f *facts) isRolloutBlocked() bool {
	return f.isPaused() || f.rollout != nil && (f.rollout.unrecorded || f.isAborted() && !f.isRollingBack())
}

// nextRollout is the record of the update for the next status.
func (f *facts) nextRollout() *v1.RolloutStatus {
	r := f.rollout
	next := f.progressRecord(r.progress)
	next.Revision, next.StepHashes = f.update.name, identity.StepHashes(f.steps())
	next.Released, next.Superseded = f.rangesOf(r.nextReleased), f.rangesOf(r.superseded)
	next.PromotedStep, next.PromotedAll, next.Aborted = r.stored.PromotedStep, r.stored.PromotedAll, r.stored.Aborted
	next.Rollback, next.Failure = r.stored.Rollback, r.stored.Failure
	f.failRollout(next)
	return next
}

// rangesOf are members in the form of ranges, in ascending order.
func (f *facts) rangesOf(members map[int]bool) (ranges []v1.OrdinalRange) {
	for _, ordinal := range slices.Sorted(maps.Keys(members)) {
		if !members[ordinal] || !f.roster.Contains(ordinal) {
			continue
		}
		ranges = identity.AppendOrdinal(ranges, ordinal)
	}
	return ranges
}
