// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"hash/fnv"

	v1 "statefulset.dev/api/apps/v1"
)

// StepHashes are the hashes that identify the steps of an update in the status of a set. Steps with
// the same meaning have the same hash.
func StepHashes(steps []v1.RolloutStep) (hashes []string) {
	for i := range steps {
		step := &steps[i]
		hash := fnv.New64a()
		manual := step.Approval == v1.ManualRolloutStepApproval
		fmt.Fprintf(hash, "%s %d %t %q", step.Updated.String(), v1.Seconds(step.BakeSeconds), manual, step.PodConditions)
		hashes = append(hashes, fmt.Sprintf("%016x", hash.Sum64()))
	}
	return hashes
}
