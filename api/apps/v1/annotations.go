// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// HoldAnnotation holds a set: as long as a set has it, whatever its value, the
// controller writes nothing to the host for the set, and keeps the revisions and
// the collision count that its status names. The value says to people why.
const HoldAnnotation = GroupName + "/hold"

// Held reports whether a set is held, and what the annotation says why.
func Held(set *StatefulSet) (why string, held bool) {
	why, held = set.Annotations[HoldAnnotation]
	return why, held
}

// ClaimTemplatesAnnotation is on the pods of a set that has spec.volumeClaimUpdate. It names
// the claim templates that the pod was created with, so that a pod that mounts otherwise
// because somebody changes pods at admission is not recreated over and over.
const ClaimTemplatesAnnotation = GroupName + "/claim-templates"
