// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// ValidateStatusUpdate returns the errors in a change of the status of a set.
func ValidateStatusUpdate(set, old *v1.StatefulSet) field.ErrorList {
	status, path := &set.Status, field.NewPath("status")
	errs := atLeastZero(status.ObservedGeneration, path.Child("observedGeneration"))
	errs = append(errs, atLeastZero(int64(status.Replicas), path.Child("replicas"))...)

	errs = append(errs, validateCount("readyReplicas", status.ReadyReplicas, "replicas", status.Replicas)...)
	errs = append(errs, validateCount("currentReplicas", status.CurrentReplicas, "replicas", status.Replicas)...)
	errs = append(errs, validateCount("updatedReplicas", status.UpdatedReplicas, "replicas", status.Replicas)...)
	errs = append(errs, validateCount("availableReplicas", status.AvailableReplicas, "readyReplicas", status.ReadyReplicas)...)

	count, oldCount := ptr.Deref(status.CollisionCount, 0), ptr.Deref(old.Status.CollisionCount, 0)
	errs = append(errs, atLeastZero(int64(count), path.Child("collisionCount"))...)
	if count < oldCount {
		errs = append(errs, field.Invalid(path.Child("collisionCount"), count,
			fmt.Sprintf("must not be less than before (%d)", oldCount)))
	}
	return errs
}

// validateCount requires a counter of pods between zero and the counter of all these pods.
func validateCount(name string, value int32, wholeName string, whole int32) field.ErrorList {
	path := field.NewPath("status", name)
	errs := atLeastZero(int64(value), path)
	if value > whole {
		errs = append(errs, field.Invalid(path, value, fmt.Sprintf("must not be greater than status.%s, which is %d", wholeName, whole)))
	}
	return errs
}
