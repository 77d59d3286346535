// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

// listedOrdinals: where some are reserved, the status lists as many ordinals as there are to
// be replicas, those that are wanted; where none is, it lists none.
func (j *judged) listedOrdinals() {
	var got []int
	for _, r := range j.plan.Status.Ordinals {
		for ordinal := int(r.First); ordinal <= int(r.End()); ordinal++ {
			got = append(got, ordinal)
		}
	}
	var want []int
	if reserves := j.Set.Spec.Ordinals != nil && len(j.Set.Spec.Ordinals.Reserved) > 0; reserves {
		want = j.ordinals
	}
	if !slices.Equal(got, want) || len(want) > 0 && len(got) != int(*j.Set.Spec.Replicas) {
		j.broke("ordinals", "the status lists the ordinals %v, want %v for %d replicas", got, want, *j.Set.Spec.Replicas)
	}
}
