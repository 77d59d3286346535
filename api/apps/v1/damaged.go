// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// DamagedAnnotation marks a stand-in: a set that the server lists in the place of one
// whose stored value cannot be read. The value says why. A stand-in has the name, the
// namespace and the UID of the set that it stands for, and no spec.
const DamagedAnnotation = GroupName + "/damaged"

// ReasonDamaged says that the stored value of the set cannot be read.
const ReasonDamaged = "Damaged"

// IsDamaged reports whether the set is a stand-in. The annotation alone does not make
// one: a set that anybody can write has a selector.
func IsDamaged(set *StatefulSet) bool {
	_, marked := set.Annotations[DamagedAnnotation]
	return marked && set.Spec.Selector == nil
}
