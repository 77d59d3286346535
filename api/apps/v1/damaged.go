// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// DamagedAnnotation marks a stand-in: a set that the server returns instead of a set whose stored
// value cannot be read. The value of the annotation is the reason. A stand-in has the name, the
// namespace and the UID of the stored set, and no spec.
const DamagedAnnotation = GroupName + "/damaged"

// ReasonDamaged means that the stored value of the set cannot be read.
const ReasonDamaged = "Damaged"

// IsDamaged reports whether the set is a stand-in. The annotation alone does not make a set a
// stand-in: a set that a user can write always has a selector.
func IsDamaged(set *StatefulSet) bool {
	_, marked := set.Annotations[DamagedAnnotation]
	return marked && set.Spec.Selector == nil
}
