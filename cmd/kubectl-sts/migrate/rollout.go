// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// refuseRollout refuses a set whose update has reached members that no partition describes:
// apps/v1 would update the others, too.
func refuseRollout(set *v1.StatefulSet) error {
	rollout := heldBackBySteps(set)
	if rollout == nil {
		return nil
	}
	if rollout.Aborted || rollout.Rollback {
		return fmt.Errorf("the update to %s is rolled back, and apps/v1 would update all members to it; give the set another template first, as kubectl sts rollout undo does", rollout.Revision)
	}
	if _, ok := partitionOf(set, rollout); ok {
		return nil
	}
	reached, left := "", ""
	for ordinal := range identity.OrdinalsOf(set).All() {
		switch name := identity.PodName(set.Name, ordinal); {
		case isIn(rollout.Released, ordinal):
			reached = name
		case reached != "" && left == "":
			left = name
		}
	}
	return fmt.Errorf("%s runs %s and %s does not: apps/v1 would update all; promote or abort the update first", reached, rollout.Revision, left)
}

// heldBackBySteps is what the status says of an update that apps/v1 would take to all members
// at once, and the set does not; nil if there is none.
func heldBackBySteps(set *v1.StatefulSet) *v1.RolloutStatus {
	if set == nil || set.Status.CurrentRevision == set.Status.UpdateRevision {
		return nil
	}
	rolling, rollout := set.Spec.UpdateStrategy.RollingUpdate, set.Status.Rollout
	if rollout == nil || rollout.Revision != set.Status.UpdateRevision || rollout.Step == 0 {
		return nil
	}
	inSteps := rolling != nil && int(rollout.Step) <= len(rolling.Steps) && !rollout.PromotedAll
	if inSteps || rollout.Aborted || rollout.Rollback {
		return rollout
	}
	return nil
}

// partitionOf is the number of members, from the first, that the update has not reached; false
// if it has reached one before one that it has not.
func partitionOf(set *v1.StatefulSet, rollout *v1.RolloutStatus) (partition int32, ok bool) {
	above := false
	for ordinal := range identity.OrdinalsOf(set).All() {
		switch reached := isIn(rollout.Released, ordinal); {
		case reached:
			above = true
		case above:
			return 0, false
		default:
			partition++
		}
	}
	return partition, true
}

func isIn(ranges []v1.OrdinalRange, ordinal int) bool {
	return slices.ContainsFunc(ranges, func(r v1.OrdinalRange) bool { return r.Contains(ordinal) })
}
