// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import v1 "statefulset.dev/api/apps/v1"

// method is how a member is brought to its target revision.
type method int

const (
	// keep leaves the pod unchanged, whatever its revision.
	keep method = iota
	// recreate deletes the pod; the member is created again after its termination.
	recreate
	// recreateBroken is like recreate, for a member that the update would otherwise leave alone,
	// but whose pod is broken.
	recreateBroken
	// awaitRestart leaves the pod alone: its spec is up to date, and its containers have yet to be
	// restarted.
	awaitRestart
)

// target is the revision that a member should have, and how its pod gets there. Both creation and
// update use it, so that they agree.
func (f *facts) target(m member) (*revision, method) {
	goal, how := f.planned(m)
	if how == keep && isRestarting(m.pod) {
		how = awaitRestart
	}
	return goal, how
}

// planned is the target of a member without regard to a change in progress.
func (f *facts) planned(m member) (*revision, method) {
	goal := f.targetRevision(m)
	switch {
	case m.pod == nil, f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType, f.isRolloutBlocked():
		return goal, keep
	case revisionOf(m.pod) == goal.name && !f.hasOtherClaimsOrOverride(m):
		return goal, keep
	case f.isDue(m):
		return goal, recreate
	case f.isReplacedBelowPartition(m):
		return goal, recreateBroken
	default:
		return goal, keep
	}
}

// isDue reports whether a member is recreated when its turn comes. Its pod is outdated, or has
// other claims or another override.
func (f *facts) isDue(m member) bool {
	switch {
	case f.isRollingBack():
		return revisionOf(m.pod) == f.update.name || f.hasOtherClaimsOrOverride(m) && f.isAbovePartition(m)
	case !f.goesByRecord():
		return f.reached(m)
	case f.rollout.released[m.ordinal]:
		return f.rollout.nextReleased[m.ordinal]
	default: // steps do not delay changes other than the update
		return f.hasOtherClaimsOrOverride(m) && !f.rollout.superseded[m.ordinal]
	}
}

// targetRevision is the revision that a member should have, whether or not its pod is brought
// there.
func (f *facts) targetRevision(m member) *revision {
	if f.reached(m) {
		return f.destination()
	}
	return f.current
}

// reached reports whether an update is to change the member. It leaves alone members below the
// partition, so that the loss of a pod does not update its member early. Without a partition, it
// leaves alone as many of the first members without a pod as there are members with the current
// revision, except for a member whose pod was removed out of turn for the update. If the set orders
// its updates, no member is left alone for that reason: the ordinals do not say which members the
// update has reached. For an update that is paused, goes by steps, or was stopped, the status says
// which members it has reached.
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

// isRecorded reports whether the record names the member as reached by the update, or as a member
// without another revision at which it could be created.
func (f *facts) isRecorded(m member) bool {
	return f.rollout.released[m.ordinal] || f.rollout.superseded[m.ordinal] && m.pod == nil
}

// isStopped reports whether an abort or a rollback stops the update where it is, because not all
// members can be rolled back, or because the record is not in the status yet.
func (f *facts) isStopped() bool {
	return f.rollout != nil && (f.rollout.stored.Aborted || f.rollout.stored.Rollback) && !f.isRollingBack()
}

// isAbovePartition reports whether an update may change the member at all. Reserved ordinals count.
// Otherwise, to reserve an ordinal would move an updated member below the partition, and its pod
// would be recreated at the previous revision.
func (f *facts) isAbovePartition(m member) bool {
	first := 0
	if ordinals := f.world.Set.Spec.Ordinals; ordinals != nil {
		first = int(ordinals.Start)
	}
	return max(m.ordinal-first, 0) >= f.partition()
}

// partition is the number of first ordinals that an update leaves alone.
func (f *facts) partition() int {
	rolling := f.world.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.Partition == nil {
		return 0
	}
	return int(*rolling.Partition)
}

// countUnreached counts the members that an update without a partition has yet to reach. It counts
// pods, because the status may be older than the last removal, and a member that is recreated
// without the update would be removed again. A Parallel set removes broken members out of order, so
// for it the number does not say which members are left.
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
