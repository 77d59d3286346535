// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// rollout is what is known of an update of which the status keeps a record, because the pods
// alone do not tell how far it may go.
type rollout struct {
	// stored is what the status says of this update.
	stored v1.RolloutStatus
	// begins is true if the status does not say yet whom the update has reached: nothing that
	// rests on it is done.
	begins bool
	// released are the members that the update has reached by the status, and those that have
	// a pod at its revision; superseded those that have no revision to come back to.
	released, superseded map[int]bool
	// let are the members that the status is to name as reached.
	let map[int]bool
	// at is where the update stands.
	at progress
	// next is what the status is to say of the update.
	next *v1.RolloutStatus
}

// findRollout finds out how far an update has come that has a record.
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
	r.begins = r.stored.Step == 0
	f.rollout = r
	f.findReleased(before)
	r.at = f.standingOfRollout()
	r.let = f.letGo()
	r.next = f.nextRollout()
}

// isTracked reports whether the status is to keep a record of the update. An abort or a rollback
// stays until the set gets another template, whatever its update strategy is until then.
func (f *facts) isTracked() bool {
	if f.current.name == f.update.name {
		return false
	}
	stored := f.world.Set.Status.Rollout
	ended := stored != nil && stored.Revision == f.update.name && (stored.Aborted || stored.Rollback)
	return ended || f.paused() || len(f.steps()) > 0 || f.failsBack()
}

// findReleased finds out whom the update has reached: those whom the status names, and those
// that have a pod at its revision.
func (f *facts) findReleased(before *v1.RolloutStatus) {
	r := f.rollout
	if !r.begins {
		f.keep(r.released, r.stored.Released)
		f.keep(r.superseded, r.stored.Superseded)
	}
	for _, m := range f.members {
		switch {
		case m.pod != nil && revisionOf(m.pod) == f.update.name:
			r.released[m.ordinal] = true
		case !r.begins:
		case m.pod == nil && wasReached(before, f.update.name, m):
			r.released[m.ordinal] = true
		case m.pod == nil && wasReleased(before, m), m.pod != nil && revisionOf(m.pod) != f.current.name:
			r.superseded[m.ordinal] = true
		}
	}
	maps.DeleteFunc(r.released, func(ordinal int, _ bool) bool { return !f.isAbovePartition(member{ordinal: ordinal}) })
}

// keep adds those of ranges that are wanted.
func (f *facts) keep(to map[int]bool, ranges []v1.OrdinalRange) {
	for _, r := range ranges {
		for ordinal := int(r.First); ordinal <= int(r.End()); ordinal++ {
			if f.roster.Contains(ordinal) {
				to[ordinal] = true
			}
		}
	}
}

// wasReached reports whether a member has no pod because it was removed out of turn to be
// brought to this update.
func wasReached(before *v1.RolloutStatus, revision string, m member) bool {
	return before != nil && before.Revision == revision && before.Unblocking != nil && int(*before.Unblocking) == m.ordinal
}

// wasReleased reports whether a member has no pod because it was being brought to an update
// that this one has superseded.
func wasReleased(before *v1.RolloutStatus, m member) bool {
	return before != nil && slices.ContainsFunc(before.Released, func(r v1.OrdinalRange) bool { return r.Contains(m.ordinal) })
}

// rests reports whether no member is changed for the update, whatever its target: it is
// paused, or is yet to be recorded, or is to be rolled back and cannot be.
func (f *facts) rests() bool {
	return f.paused() || f.rollout != nil && (f.rollout.begins || f.isAborted() && !f.rollsBack())
}

// nextRollout is what the status is to say of the update.
func (f *facts) nextRollout() *v1.RolloutStatus {
	r := f.rollout
	next := f.at(r.at)
	next.Revision, next.StepHashes = f.update.name, identity.StepHashes(f.steps())
	next.Released, next.Superseded = f.rangesOf(r.let), f.rangesOf(r.superseded)
	next.PromotedStep, next.PromotedAll, next.Aborted = r.stored.PromotedStep, r.stored.PromotedAll, r.stored.Aborted
	next.Rollback, next.Failure = r.stored.Rollback, r.stored.Failure
	f.failRollout(next)
	return next
}

// rangesOf are members as ranges, in ascending order.
func (f *facts) rangesOf(members map[int]bool) (ranges []v1.OrdinalRange) {
	for _, ordinal := range slices.Sorted(maps.Keys(members)) {
		if !members[ordinal] || !f.roster.Contains(ordinal) {
			continue
		}
		ranges = identity.AppendOrdinal(ranges, ordinal)
	}
	return ranges
}
