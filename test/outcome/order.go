// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"

	v1 "statefulset.dev/api/apps/v1"
)

// order is the oracle for docs/semantics.md: an ordered set creates no member while a lower one has
// no pod, unless it is configured to replace unready members out of order (docs/rollouts.md).
type order struct{}

func (order) name() string { return "order" }

func (o order) changed(j *Judge, before, after *Scene, by Actor) {
	if before == nil || by != Controller || !works(after.Set) || before.Set == nil || !isOrdered(after.Set) ||
		replacesOutOfTurn(after.Set) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(after.Pods)) {
		n, is := ordinal(after.Set, name)
		if before.Pods[name] != nil || !is {
			continue
		}
		for _, m := range desired(after.Set) {
			if pod := after.podOf(m); m < n && pod == nil {
				j.broken(o, "create: pod %s was created although member %d has no pod", name, m)
			}
		}
		if !isDesired(after.Set, n) {
			j.broken(o, "surplus: pod %s was created although its member is not desired", name)
		}
	}
}

func replacesOutOfTurn(set *v1.StatefulSet) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	return rolling != nil && rolling.ReplaceUnreadyAfterSeconds != nil || set.Status.Rollout != nil && set.Status.Rollout.Unblocking != nil
}
