// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"

	v1 "statefulset.dev/api/apps/v1"
)

// partition is the oracle for partitions: a member that was updated with the current partition is
// not reverted to the previous version, unless a user has requested that.
type partition struct {
	versions
	// border counts the changes of the set of members to update, except by reserving ordinals.
	border int
	// got is the border at which a member has got the current template.
	got map[int]int
}

func newPartition() *partition { return &partition{versions: newVersions(), got: map[int]int{}} }

func (*partition) name() string { return "partition" }

func (o *partition) changed(j *Judge, before, after *Scene, by Actor) { //nolint:gocyclo // each condition is one reason to say nothing
	if before == nil || before.Set == nil || after.Set == nil {
		return
	}
	if template := o.template; o.moved(before.Set, after.Set) || template != "" && template != version(&after.Set.Spec.Template.Spec) {
		o.border++
	}
	changes := o.changes(before, after)
	if by == Controller && partitionOf(after.Set) > 0 && !o.mixed {
		for _, c := range changes {
			if border, got := o.got[c.n]; got && border == o.border && c.from == o.template && c.to != o.template && isDesired(after.Set, c.n) {
				j.broken(o, "reverts member %d from %s to %s, although the partition has not changed", c.n, c.from, c.to)
			}
		}
	}
	o.see(after, by)
	maps.DeleteFunc(o.got, func(n, _ int) bool { return !isDesired(after.Set, n) })
	for _, c := range changes {
		if delete(o.got, c.n); c.to == o.template && by == Controller {
			o.got[c.n] = o.border
		}
	}
}

// moved reports whether the set of members to update has changed, except by reserving ordinals.
func (o *partition) moved(before, after *v1.StatefulSet) bool {
	record := decided(after)
	return partitionOf(before) != partitionOf(after) || startOf(before) != startOf(after) ||
		before.Spec.UpdateStrategy.Type != after.Spec.UpdateStrategy.Type || record.Aborted || record.Rollback
}

func partitionOf(set *v1.StatefulSet) int {
	if rolling := rollingOf(set); rolling != nil && rolling.Partition != nil {
		return int(*rolling.Partition)
	}
	return 0
}

func startOf(set *v1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}
