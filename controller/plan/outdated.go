// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	v1 "statefulset.dev/api/apps/v1"
)

// outdatedText says how many members of a set without open work run an older template, and why. It
// is empty if none does.
func (f *facts) outdatedText() string {
	count := 0
	for _, m := range f.members {
		if m.pod != nil && revisionOf(m.pod) != f.update.name {
			count++
		}
	}
	runs, until := "run", "until their pods are deleted"
	if count == 1 {
		runs, until = "runs", "until its pod is deleted"
	}
	switch {
	case count == 0:
		return ""
	case f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType:
		return fmt.Sprintf("; %d %s an older template %s, because updateStrategy.type is OnDelete", count, runs, until)
	case f.partition() > 0:
		return fmt.Sprintf("; %d %s an older template, because updateStrategy.rollingUpdate.partition is %d", count, runs, f.partition())
	default:
		return fmt.Sprintf("; %d %s an older template", count, runs)
	}
}
