// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// matchSteps adapts what the status records about steps to the current steps of the set. If a user
// has changed the steps, the update is at the first step that it has not completed with the same
// content. A step stays approved if it and all steps before it were approved with the same content.
// A record without hashes, of an earlier version, is about the current steps.
func (f *facts) matchSteps(stored *v1.RolloutStatus) {
	before, now := stored.StepHashes, identity.StepHashes(f.steps())
	earlier := len(before) == 0 && (stored.Step > 1 || stored.PromotedStep > 0)
	if earlier || slices.Equal(before, now) {
		return
	}
	stored.PromotedStep = int32(countLeading(now, firstOf(before, int(stored.PromotedStep)))) //nolint:gosec // there are few steps
	if stored.Step == 0 {
		return
	}
	number := int(stored.Step)
	next := countLeading(now, firstOf(before, number-1)) + 1
	stored.Step = int32(next) //nolint:gosec // there are few steps
	if number > len(before) || next > len(now) || before[number-1] != now[next-1] {
		stored.BakeStartTime, stored.ProgressTime, stored.MostAvailable, stored.Passed = nil, nil, 0, nil
	}
}

// countLeading is how many steps, from the first, are among others. Each of the others counts once.
func countLeading(steps, others []string) (n int) {
	left := slices.Clone(others)
	for _, step := range steps {
		at := slices.Index(left, step)
		if at < 0 {
			break
		}
		left = slices.Delete(left, at, at+1)
		n++
	}
	return n
}

// firstOf are the first n steps, or all of them if there are fewer.
func firstOf(steps []string, n int) []string {
	return steps[:min(max(n, 0), len(steps))]
}
