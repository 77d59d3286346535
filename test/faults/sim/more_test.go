// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"statefulset.dev/test/faults/internal/scenarios"
)

// everything are the shared scenarios, and some that need more interplay than real
// processes show in a short time.
func everything() []scenarios.Scenario {
	return append(scenarios.All(), upAgain(), successor(), lostBelowPartition(), lostClaim(), parallelUpdate(), corrected(), removedInTheMiddle(), flipped())
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

// corrected updates members to an image that does not start, and then to one that does.
func corrected() scenarios.Scenario {
	s := named("create ordered 3")
	s.Name = "an update that cannot start is corrected"
	s.Steps = append(slices.Clip(s.Steps),
		scenarios.Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"replaceUnreadyAfterSeconds":5}}}}`),
		imagePatch(unlucky), scenarios.Wait{For: "a member cannot start", Missing: func(o scenarios.Observed) string {
			if !slices.ContainsFunc(o.Pods, func(pod corev1.Pod) bool { return imageOf(pod.Spec) == unlucky }) {
				return "no member has the image " + unlucky
			}
			return ""
		}}, imagePatch("example.com/web:2"), scenarios.Settled)
	return s
}

func imagePatch(image string) scenarios.Patch {
	return scenarios.Patch(fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":%q}]}}}}`, image))
}

// removedInTheMiddle takes a member out of the middle while an update goes on, and wants it
// back.
func removedInTheMiddle() scenarios.Scenario {
	s := named("create ordered 3")
	s.Name = "a member is removed in the middle of an update and brought back"
	s.Steps = append(slices.Clip(s.Steps),
		imagePatch("example.com/web:2"),
		scenarios.Patch(`{"spec":{"replicas":2,"ordinals":{"reserved":[{"first":1}]}}}`),
		scenarios.Wait{For: "the other two are there", Missing: func(o scenarios.Observed) string {
			var names []string
			for i := range o.Pods {
				if _, is := ready(&o.Pods[i]); is && o.Pods[i].DeletionTimestamp == nil && imageOf(o.Pods[i].Spec) == "example.com/web:2" {
					names = append(names, o.Pods[i].Name)
				}
			}
			slices.Sort(names)
			if want := []string{podName(0), podName(2)}; len(o.Pods) != 2 || !slices.Equal(names, want) {
				return fmt.Sprintf("of %d pods %v are ready and updated, want %v", len(o.Pods), names, want)
			}
			return ""
		}},
		scenarios.Patch(`{"spec":{"replicas":3,"ordinals":{"reserved":null}}}`), scenarios.Settled)
	return s
}

// flipped changes what apps/v1 freezes while an update goes on.
func flipped() scenarios.Scenario {
	s := named("create ordered 3")
	s.Name = "the policy and the service change during an update"
	s.Steps = append(slices.Clip(s.Steps),
		imagePatch("example.com/web:2"),
		scenarios.Patch(`{"spec":{"podManagementPolicy":"Parallel","serviceName":"other","replicas":5}}`),
		scenarios.Patch(`{"spec":{"podManagementPolicy":"OrderedReady"}}`), scenarios.Settled)
	return s
}

func named(name string) scenarios.Scenario {
	s, err := scenarios.Named(name)
	if err != nil {
		panic(err)
	}
	return s
}
