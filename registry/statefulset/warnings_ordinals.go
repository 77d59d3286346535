// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// reserving warns of members that a change moves to other ordinals, of claims that are deleted for
// it, and of a partition that leaves fewer members alone than its number.
func reserving(set, old *v1.StatefulSet) []string {
	if set.Spec.Ordinals == nil {
		return nil
	}
	return append(relocating(set, old), partitioning(set, old)...)
}

// partitioning warns of reserved ordinals below the partition, which count, if either is new.
func partitioning(set, old *v1.StatefulSet) []string {
	partition, start := partitionOf(set), set.Spec.Ordinals.Start
	unchanged := partition == partitionOf(old) && equality.Semantic.DeepEqual(set.Spec.Ordinals, old.Spec.Ordinals)
	if unchanged || partition == 0 {
		return nil
	}
	below := v1.OrdinalRange{First: start, Last: new(int32(min(int64(start)+int64(partition)-1, math.MaxInt32)))} //nolint:gosec // bounded
	_, n := overlap(set.Spec.Ordinals.Reserved, []v1.OrdinalRange{below})
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf(
		"spec.updateStrategy.rollingUpdate.partition: %d counts ordinals, and %d of them are reserved, so an update leaves %d members alone",
		partition, n, int64(partition)-n)}
}

func partitionOf(set *v1.StatefulSet) int32 {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		return *rolling.Partition
	}
	return 0
}

// relocating warns of members that a change moves to other ordinals, and of claims that are deleted
// for it.
func relocating(set, old *v1.StatefulSet) []string {
	before, after := identity.OrdinalsOf(old), identity.OrdinalsOf(set)
	first, removed := overlap(set.Spec.Ordinals.Reserved, before.Ranges())
	if removed == 0 {
		return nil
	}
	who, whose := "member "+identity.PodName(set.Name, first)+" is", "its"
	if removed > 1 {
		who, whose = fmt.Sprintf("members %s and %d more are", identity.PodName(set.Name, first), removed-1), "their"
	}
	var texts []string
	if after.Len() >= before.Len() {
		texts = append(texts,
			fmt.Sprintf(
				"spec.ordinals.reserved: %s removed, and as many are created at other ordinals; to remove without that, lower spec.replicas in the same write", who))
	}
	if policy := set.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil &&
		policy.WhenScaled == v1.DeletePersistentVolumeClaimRetentionPolicyType && len(set.Spec.VolumeClaimTemplates) > 0 {
		texts = append(texts,
			fmt.Sprintf(
				"spec.ordinals.reserved: %s removed, and %s claims are deleted, because persistentVolumeClaimRetentionPolicy.whenScaled is Delete", who,
				whose))
	}
	return texts
}

// overlap is the lowest ordinal that is in ranges of both kinds, and how many there are.
func overlap(a, b []v1.OrdinalRange) (lowest int, n int64) {
	for _, x := range a {
		for _, y := range b {
			first, last := max(x.First, y.First), min(x.End(), y.End())
			if first > last {
				continue
			}
			if n == 0 || int(first) < lowest {
				lowest = int(first)
			}
			n += int64(last) - int64(first) + 1
		}
	}
	return lowest, n
}
