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
	more := []scenarios.Scenario{upAgain(), successor(), lostBelowPartition(), lostClaim(), parallelUpdate(), corrected(), flipped(),
		inherited(), strangers(), refusedObject()}
	return slices.Concat(scenarios.All(), scenarios.Beyond(), more)
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

// corrected is replaced when the unready member has had five seconds.
func corrected() scenarios.Scenario {
	s := named("an update that cannot start is corrected")
	s.Name += " after five seconds"
	s.Steps = slices.Clone(s.Steps)
	at := slices.IndexFunc(s.Steps, func(step scenarios.Step) bool { _, ok := step.(scenarios.Patch); return ok })
	s.Steps[at] = scenarios.Patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"replaceUnreadyAfterSeconds":5}}}}`)
	return s
}

// flipped changes what apps/v1 freezes, and back, faster than the controller follows.
func flipped() scenarios.Scenario {
	s := named("rollback midway")
	s.Name = "the policy and the service change twice during an update"
	created, settled, image := s.Steps[0], s.Steps[1], s.Steps[2]
	s.Steps = []scenarios.Step{created, settled, image,
		scenarios.Patch(`{"spec":{"podManagementPolicy":"Parallel","serviceName":"other","replicas":5}}`),
		scenarios.Patch(`{"spec":{"podManagementPolicy":"OrderedReady"}}`), settled}
	return s
}

// inherited is created anew under its name when it has made objects, which stay.
func inherited() scenarios.Scenario {
	s, again := named("members have objects, whose descriptions change in the middle of an update"), named("same-name recreate")
	s.Name = "same-name recreate with objects"
	created, described, scaled, settled, otherwise := s.Steps[:2], s.Steps[2], s.Steps[3], s.Steps[4], s.Steps[5]
	s.Steps = slices.Concat(created, []scenarios.Step{described, scaled, settled, again.Steps[2]}, created,
		[]scenarios.Step{otherwise, scaled, settled})
	return s
}

// strangers have taken names of objects, and let go of them; and an object is hidden from who watches
// it. Where a controller is killed at every write, those of the status among them, it gets no further:
// of names that are taken it learns by asking, after each start.
func strangers() scenarios.Scenario {
	s, conf, all := named("objects are lost and changed by hand"), podName(1)+"-conf", scenarios.Name+"-all"
	s.Name = "objects are others' already, and are lost and changed by hand"
	s.Steps = slices.Concat(s.Steps[:2], []scenarios.Step{scenarios.PutObject{Name: conf}, scenarios.PutObject{Name: all, Owner: "gone/1"}},
		s.Steps[2:5],
		[]scenarios.Step{scenarios.DeleteObject(conf)}, s.Steps[5:],
		[]scenarios.Step{scenarios.PatchObject{Name: podName(0) + "-conf", Patch: `{"metadata":{"labels":null}}`}},
		[]scenarios.Step{scenarios.Settled, scenarios.DeleteObject(all), scenarios.Settled})
	return s
}

// refusedObject may not use what somebody else has made.
func refusedObject() scenarios.Scenario {
	s, conf := named("objects are lost and changed by hand"), podName(1)+"-conf"
	s.Name = "an object of another may not be used"
	s.Steps = slices.Concat(s.Steps[:2],
		[]scenarios.Step{scenarios.PutObject{Name: conf}, scenarios.Refusing(1), scenarios.Patch(`{"spec":{"replicas":3}}`), scenarios.Refused(),
			scenarios.DeleteObject(conf), scenarios.Settled, scenarios.Refusing(2), scenarios.Settled})
	return s
}

func named(name string) scenarios.Scenario {
	s, err := scenarios.Named(name)
	if err != nil {
		panic(err)
	}
	return s
}
