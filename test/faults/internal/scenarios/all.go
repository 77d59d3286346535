// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const retain, remove = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType

// All returns the scenarios for both groups, always in the same order.
func All() []Scenario {
	return []Scenario{
		{"create ordered 3", ordered(3), steps()},
		{"create parallel 5 with 2 claims", parallel(5, "data", "log"), steps()},
		{"scale 3 to 6", ordered(3), steps(scale(6), Settled)},
		{"scale 6 to 2 retaining", ordered(6), steps(scale(2), Settled)},
		{"scale 6 to 2 whenScaled=Delete", keeping(ordered(6), retain, remove), steps(scale(2), Settled)},
		{"rolling update of 5", ordered(5), steps(image(2), Settled)},
		{"partition 3 of 5", rolling(ordered(5), 3, 1), steps(image(2), Settled)},
		{"maxUnavailable 2 of 6", rolling(ordered(6), 0, 2), steps(image(2), Settled)},
		{"rollback midway", ordered(3), steps(image(2), updated(1), image(1), Settled)},
		{"failed and evicted pods", ordered(3),
			steps(EndPod{Ordinal: 1}, Settled, EndPod{Ordinal: 0, Reason: "Evicted"}, EndPod{Ordinal: 2}, Settled)},
		{"delete set whenDeleted=Delete", keeping(ordered(3), remove, retain), steps(Delete(metav1.DeletePropagationBackground), Empty)},
		{"orphan and adopt", ordered(3), steps(Delete(metav1.DeletePropagationOrphan), Orphaned, Create{}, Settled)},
		{"same-name recreate", ordered(3), steps(Delete(metav1.DeletePropagationBackground), Create{}, Settled)},
		{"ordinals.start shift", ordered(3), steps(Patch(`{"spec":{"ordinals":{"start":2}}}`), Settled)},
		{"history truncation", remembering(ordered(2), 1), steps(image(2), Settled, image(3), Settled, image(4), Settled)},
	}
}

// Named returns the scenario with a name.
func Named(name string) (Scenario, error) {
	for _, s := range append(All(), Beyond()...) {
		if s.Name == name {
			return s, nil
		}
	}
	return Scenario{}, fmt.Errorf("scenario %q does not exist", name)
}

// steps returns the steps for a set that is ready first.
func steps(more ...Step) []Step { return append([]Step{Create{}, Settled}, more...) }

func scale(replicas int) Patch { return Patch(fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)) }

// image changes the template. A merge patch replaces lists completely.
func image(version int) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/web:%d"}]}}}}`, version))
}
