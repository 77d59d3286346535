// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import v1 "statefulset.dev/api/apps/v1"

// method is how the pod of a member gets to the revision at which the member is to be.
type method int

const (
	// keep leaves the pod as it is, whatever its revision.
	keep method = iota
	// recreate deletes the pod; the member is created again after its termination.
	recreate
	// mend recreates a member that the update leaves alone otherwise, because its pod is
	// broken.
	mend
	// restart lets the pod be: it has what it is to have, and its containers have yet to be
	// restarted with it.
	restart
)

// target says at which revision a member is to be, and how the pod that it has gets
// there. Creation and update both ask here, so that they agree.
func (f *facts) target(m member) (*revision, method) {
	goal, how := f.planned(m)
	if how == keep && isRestarting(m.pod) {
		how = restart
	}
	return goal, how
}

// planned is the target of a member as far as nothing is under way.
func (f *facts) planned(m member) (*revision, method) {
	goal := f.goal(m)
	switch {
	case m.pod == nil, f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType, f.rests():
		return goal, keep
	case revisionOf(m.pod) == goal.name && !f.misshapen(m):
		return goal, keep
	case f.isDue(m):
		return goal, recreate
	case f.isReplacedBelowPartition(m):
		return goal, mend
	default:
		return goal, keep
	}
}

// isDue reports whether a member whose pod is not as it is to be is recreated in its turn.
func (f *facts) isDue(m member) bool {
	switch {
	case f.rollsBack():
		return revisionOf(m.pod) == f.update.name || f.misshapen(m) && f.isAbovePartition(m)
	case !f.goesByRecord():
		return f.reached(m)
	case f.rollout.released[m.ordinal]:
		return f.rollout.let[m.ordinal]
	default: // steps do not hold back what is no update
		return f.misshapen(m) && !f.rollout.superseded[m.ordinal]
	}
}

// goal is the revision at which a member is to be, whether or not its pod is brought there.
func (f *facts) goal(m member) *revision {
	if f.reached(m) {
		return f.destination()
	}
	return f.current
}

// reached reports whether an update is to change the member. Those below the partition
// it leaves alone, so that losing a pod does not update it early; without a partition,
// as many of the first of those that have no pod as members still have the current
// revision, but for one that was removed out of turn to be updated. Where the set orders
// its updates, no member is left alone so: their ordinals do not say which it has reached.
// Of an update that is paused, goes by steps, or was stopped, the status says whom it has reached.
func (f *facts) reached(m member) bool {
	strategy := f.world.Set.Spec.UpdateStrategy
	rolls := strategy.Type == v1.RollingUpdateStatefulSetStrategyType
	switch {
	case f.isStopped(), rolls && f.goesByRecord():
		return f.isAbovePartition(m) && f.isRecorded(m)
	case !rolls:
		return true
	}
	if m.pod == nil && f.updateOrder() == nil && len(f.steps()) == 0 &&
		(strategy.RollingUpdate == nil || strategy.RollingUpdate.IsExtension()) {
		rank, _ := f.roster.Rank(m.ordinal)
		return rank >= f.unreached || f.unblocks(m)
	}
	return f.isAbovePartition(m)
}

// isRecorded reports whether the record names the member as one that the update has reached, or
// that has no other revision to be created at.
func (f *facts) isRecorded(m member) bool {
	return f.rollout.released[m.ordinal] || f.rollout.superseded[m.ordinal] && m.pod == nil
}

// isStopped reports whether an abort or a rollback stops the update where it is, because not all
// members can be rolled back, or because nothing is recorded of them yet.
func (f *facts) isStopped() bool {
	return f.rollout != nil && (f.rollout.stored.Aborted || f.rollout.stored.Rollback) && !f.rollsBack()
}

// isAbovePartition reports whether an update may change the member at all. Reserved ordinals
// count: if they did not, reserving one would move a member that has been updated below the
// partition, and its pod would be recreated at the revision before.
func (f *facts) isAbovePartition(m member) bool {
	first := 0
	if ordinals := f.world.Set.Spec.Ordinals; ordinals != nil {
		first = int(ordinals.Start)
	}
	return max(m.ordinal-first, 0) >= f.partition()
}

// partition is the number of ordinals, from the first, that an update leaves alone.
func (f *facts) partition() int {
	rolling := f.world.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.Partition == nil {
		return 0
	}
	return int(*rolling.Partition)
}

// countUnreached counts the members that an update without a partition has yet to
// reach. They are counted here, because the status may be older than the last removal,
// and a member that comes back as it was removed is removed again. A parallel set
// removes broken members out of order, so the number says nothing about which.
func (f *facts) countUnreached() {
	if !f.ordered {
		return
	}
	for _, m := range f.members {
		if m.pod != nil && !isTerminating(m.pod) && revisionOf(m.pod) == f.current.name {
			f.unreached++
		}
	}
}
