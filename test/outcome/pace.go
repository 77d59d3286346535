// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
)

// pace is the oracle for docs/scaling.md, "Members are removed": a scale-in with a limit removes as
// many pods at a time as it may, and never more.
type pace struct {
	// before is the cluster at the time when the last sync ended or another actor changed it.
	before *Scene
}

func (*pace) name() string { return "pace" }

func (o *pace) changed(_ *Judge, _, after *Scene, by Actor) {
	if by != Controller || o.before == nil {
		o.before = after
	}
}

func (o *pace) synced(j *Judge, now *Scene, sync Sync) { //nolint:gocyclo // each condition is one reason to say nothing
	before := o.before
	o.before = now
	if !sync.Clean || before == nil || !works(now.Set) || !works(before.Set) || isOrdered(now.Set) ||
		now.Set.Spec.Disruption != nil || len(now.Set.Spec.ObjectTemplates) > 0 {
		return
	}
	share, bounded := shareOf(now)
	if !bounded || now.Set.Spec.UpdateStrategy.Type == v1.RecreateStatefulSetStrategyType || before.anyEnds() || before.isUpdatedInPlace() ||
		!before.allAvailable() || before.Set.Generation != now.Set.Generation || !isFree(now.Set) {
		return
	}
	surplus, members, removed := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(before.Pods)) {
		n, is := ordinal(now.Set, name)
		pod := before.podOf(n)
		if !is || pod == nil {
			return // a pod that the set does not control
		}
		members++
		if isDesired(now.Set, n) {
			continue
		}
		surplus++
		if after := now.Pods[name]; after == nil || after.UID != pod.UID || after.DeletionTimestamp != nil {
			removed++
		}
	}
	allowed := max(share(members), 1)
	switch {
	case removed > allowed:
		j.broken(o, "fast: %d of %d pods were removed at the same time, but at most %d may be", removed, members, allowed)
	case marksClaims(now.Set): // the claims change first
	case removed > 0 && removed < min(allowed, surplus):
		j.broken(o, "slow: only %d of %d pods were removed, although %d are surplus and %d may be removed at the same time",
			removed, members, surplus, allowed)
	}
}

// shareOf returns how many members scaleStrategy allows to be unavailable, and false if nothing
// limits them.
func shareOf(s *Scene) (share func(members int) int, bounded bool) {
	strategy := s.Set.Spec.ScaleStrategy
	if strategy == nil || strategy.MaxUnavailable == nil {
		return nil, false
	}
	text := strategy.MaxUnavailable.String()
	percent, isPercent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(percent)
	if err != nil {
		return nil, false
	}
	return func(members int) int {
		if isPercent {
			return members * n / 100
		}
		return n
	}, true
}

// marksClaims reports whether the claims of members may have to change before their pods are
// removed.
func marksClaims(set *v1.StatefulSet) bool {
	return policyOf(set).WhenScaled == v1.DeletePersistentVolumeClaimRetentionPolicyType
}
