// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"

	v1 "statefulset.dev/api/apps/v1"
)

// paused reports whether no member is to be recreated for an update.
func (f *facts) paused() bool {
	strategy := f.Set.Spec.UpdateStrategy
	return strategy.Type == v1.RollingUpdateStatefulSetStrategyType && strategy.RollingUpdate != nil && strategy.RollingUpdate.IsPaused()
}

// isTracked reports whether the status keeps whom the update has reached: what is to become
// of a member that has no pod cannot be told from the others.
func (f *facts) isTracked() bool { return f.released != nil }

// findReleased finds out whom an update has reached that is paused: those whom the status
// names, and those that have a pod at its revision.
func (f *facts) findReleased() {
	if !f.paused() || f.current.name == f.update.name {
		return
	}
	f.released, f.superseded = map[int]bool{}, map[int]bool{}
	before := f.Set.Status.Rollout
	known := before != nil && before.Revision == f.update.name && before.Step > 0
	if known {
		f.keep(f.released, before.Released)
		f.keep(f.superseded, before.Superseded)
	}
	for _, m := range f.members {
		switch {
		case m.pod != nil && revisionOf(m.pod) == f.update.name:
			f.released[m.ordinal] = true
		case known:
		case m.pod == nil && wasReached(before, f.update.name, m):
			f.released[m.ordinal] = true
		case m.pod == nil && wasReleased(before, m), m.pod != nil && revisionOf(m.pod) != f.current.name:
			f.superseded[m.ordinal] = true
		}
	}
	maps.DeleteFunc(f.released, func(ordinal int, _ bool) bool {
		rank, _ := f.roster.Rank(ordinal)
		return rank < f.partition()
	})
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
// that was paused, and that this one has superseded.
func wasReleased(before *v1.RolloutStatus, m member) bool {
	if before == nil {
		return false
	}
	for _, r := range before.Released {
		if int(r.First) <= m.ordinal && m.ordinal <= int(r.End()) {
			return true
		}
	}
	return false
}

// tracked is what the status keeps of an update that is paused.
func (f *facts) tracked() *v1.RolloutStatus {
	return &v1.RolloutStatus{Revision: f.update.name, Released: f.rangesOf(f.released), Superseded: f.rangesOf(f.superseded), Step: 1}
}

// rangesOf are members as ranges, in ascending order.
func (f *facts) rangesOf(members map[int]bool) (ranges []v1.OrdinalRange) {
	if len(members) == 0 {
		return nil
	}
	for ordinal := range f.roster.All() {
		if !members[ordinal] {
			continue
		}
		if last := len(ranges) - 1; last >= 0 && int(ranges[last].End()) == ordinal-1 {
			ranges[last].Last = new(int32(ordinal))
		} else {
			ranges = append(ranges, v1.OrdinalRange{First: int32(ordinal)})
		}
	}
	return ranges
}

// heldBack says how many members a paused update has yet to reach, empty if none.
func (f *facts) heldBack() string {
	if !f.paused() {
		return ""
	}
	count := 0
	for _, m := range f.members {
		rank, _ := f.roster.Rank(m.ordinal)
		if m.pod != nil && rank >= f.partition() && (revisionOf(m.pod) != f.update.name || f.misshapen(m)) {
			count++
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return "the update is paused, and 1 member has yet to be updated"
	default:
		return fmt.Sprintf("the update is paused, and %d members have yet to be updated", count)
	}
}
