// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	v1 "statefulset.dev/api/apps/v1"
)

// paused reports whether the update is paused, so that no member is recreated for it.
func (f *facts) paused() bool {
	rolling := f.rolling()
	return rolling != nil && rolling.IsPaused()
}

// rolling is the configuration of rolling updates, nil if the set has another strategy or no such
// configuration.
func (f *facts) rolling() *v1.RollingUpdateStatefulSetStrategy {
	strategy := &f.world.Set.Spec.UpdateStrategy
	if strategy.Type != v1.RollingUpdateStatefulSetStrategyType {
		return nil
	}
	return strategy.RollingUpdate
}

// heldBack says how many members a paused update has yet to reach, empty if there are none.
func (f *facts) heldBack() string {
	if !f.paused() {
		return ""
	}
	count := 0
	for _, m := range f.members {
		if m.pod != nil && f.isAbovePartition(m) && (revisionOf(m.pod) != f.destination().name || f.misshapen(m)) {
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
