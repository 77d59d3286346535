// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"statefulset.dev/test/faults/internal/scenarios"
)

// everything are the shared scenarios, and some that need more interplay than real
// processes show in a short time.
func everything() []scenarios.Scenario {
	return append(scenarios.All(), upAgain(), successor(), lostBelowPartition(), lostClaim(), parallelUpdate())
}

// upAgain wants members back while their claims are still going with them.
func upAgain() scenarios.Scenario {
	s := named("scale 6 to 2 whenScaled=Delete")
	s.Name = "scale 6 to 2 whenScaled=Delete and back"
	s.Steps = append(slices.Clip(s.Steps[:len(s.Steps)-1]), scenarios.Wait{
		For: "a member is gone",
		Missing: func(o scenarios.Observed) string {
			if len(o.Pods) > 5 {
				return fmt.Sprintf("there are %d pods", len(o.Pods))
			}
			return ""
		},
	}, scenarios.Patch(`{"spec":{"replicas":6}}`), scenarios.Settled)
	return s
}

// successor creates a set of the same name while the claims of the first are going.
func successor() scenarios.Scenario {
	s := named("same-name recreate")
	s.Name = "same-name recreate whenDeleted=Delete"
	s.Set = s.Set.DeepCopy()
	s.Set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
	return s
}

// lostBelowPartition lets a member fail that an update has not reached.
func lostBelowPartition() scenarios.Scenario {
	s := named("partition 3 of 5")
	s.Name = "partition 3 of 5 and a failed pod"
	s.Steps = append(slices.Clip(s.Steps), scenarios.EndPod{Ordinal: 1}, scenarios.Settled)
	return s
}

// losePod lets a pod fail while somebody deletes its claim.
type losePod struct{ scenarios.EndPod }

func (s losePod) String() string { return s.EndPod.String() + " and delete its claim" }

// lostClaim takes a member's claim away by hand.
func lostClaim() scenarios.Scenario {
	s := named("create ordered 3")
	s.Name = "a claim deleted by hand"
	s.Steps = append(slices.Clip(s.Steps), losePod{scenarios.EndPod{Ordinal: 1}}, scenarios.Settled)
	return s
}

// parallelUpdate updates members that do not wait for each other.
func parallelUpdate() scenarios.Scenario {
	s, other := named("create parallel 5 with 2 claims"), named("rolling update of 5")
	s.Name, s.Steps = "parallel rolling update of 5", other.Steps
	return s
}

func named(name string) scenarios.Scenario {
	s, err := scenarios.Named(name)
	if err != nil {
		panic(err)
	}
	return s
}
