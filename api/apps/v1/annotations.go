// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HoldAnnotation holds a set: as long as a set has it, whatever its value, the
// controller writes nothing to the host for the set, and keeps the revisions and
// the collision count that its status names. The value says to people why.
const HoldAnnotation = GroupName + "/hold"

// Held reports whether a set is held, and what the annotation says why.
func Held(set *StatefulSet) (why string, held bool) {
	why, held = set.Annotations[HoldAnnotation]
	return why, held
}

// EvaluateAnnotation releases a set whose evaluation is stopped, if its value is
// status.evaluation.stoppedAt: the controller evaluates the expressions of the set once more. A later
// stop needs another value.
const EvaluateAnnotation = GroupName + "/evaluate"

// ClaimTemplatesAnnotation is on the pods of a set that has spec.volumeClaimUpdate. It names
// the claim templates that the pod was created with, so that a pod that mounts otherwise
// because somebody changes pods at admission is not recreated over and over.
const ClaimTemplatesAnnotation = GroupName + "/claim-templates"

// InPlaceAnnotation is on a pod whose containers are being restarted or resized by an update in
// place. Its value, in JSON, names the revision that the pod had and the one that it gets, since
// when that is so, of each container that is restarted the ID that it had before, and of each that
// is resized the resources that it gets. It goes when the former have other IDs and the latter
// what is noted.
const InPlaceAnnotation = GroupName + "/in-place"

// DisruptionAnnotation is on a pod that the gates of its set are asked about. It is JSON with
// id, a number that counts what was asked of the pod, operation, revision, at which the
// member is to return, empty if it is not to, and since.
const DisruptionAnnotation = GroupName + "/disruption"

// DisruptionCountAnnotation is on a pod that gates were ever asked about, and is the id of the
// last question. It stays when a question is withdrawn, so that no later one gets the same id.
const DisruptionCountAnnotation = GroupName + "/disruption-count"

// OverrideAnnotation is on a pod that was created with an override (spec.overrides) that makes it
// otherwise than its template. Its value is the digest of what the override says about pods, so
// that a member is recreated when that changes, and only then.
const OverrideAnnotation = GroupName + "/override"

// ReplicasAnnotation is on a pod that names the parameter REPLICAS (spec.identity), and is
// spec.replicas of its set. It is kept up to date while the pod runs: a container reads it when it
// starts, a downwardAPI volume at once.
const ReplicasAnnotation = GroupName + "/replicas"

// OutputAnnotationPrefix begins the names of annotations that are on a pod that names outputs of
// objects (spec.objectTemplates); the name of the output follows. Each is the value that the output
// had when the pod was created. Containers read it from there.
const OutputAnnotationPrefix = GroupName + "/output."

// ProtectAnnotation protects a set: as long as the stored set has it, whatever its value, the set
// cannot be deleted and spec.replicas cannot become 0. The value says to people why.
const ProtectAnnotation = GroupName + "/protect"

// mostOfReason is how much of a reason is repeated to a user.
const mostOfReason = 100

// Protected reports whether a set, or its metadata, is protected, and what the annotation says
// why. A set whose deletion has begun is not: it goes on.
func Protected(set metav1.Object) (why string, protected bool) {
	why, protected = set.GetAnnotations()[ProtectAnnotation]
	if set.GetDeletionTimestamp() != nil {
		return why, false
	}
	return why, protected
}

// ExplainProtection says that a set is protected, why, and what to do.
func ExplainProtection(set metav1.Object) string {
	why, reason := set.GetAnnotations()[ProtectAnnotation], ""
	if runes := []rune(why); len(runes) > mostOfReason {
		why = string(runes[:mostOfReason]) + "..."
	}
	if why != "" {
		reason = fmt.Sprintf(" (%q)", why)
	}
	return fmt.Sprintf("set %s/%s is protected%s: remove annotation %s first", set.GetNamespace(), set.GetName(), reason, ProtectAnnotation)
}

// OwnerAnnotation names a set, as "<name>/<UID>". On an object that a set has made from one of its
// templates it decides whose the object is. On a claim it names the set whose member has last mounted
// it: the controller sets it while a pod of the member mounts the claim, if the set has claims of
// removed members deleted after a delay, and deletes no claim without it. Who removes it from a claim
// of a removed member keeps that claim.
const OwnerAnnotation = GroupName + "/owner"

// RetiredAtAnnotation is on a claim, or on an object that a set has made for a member. It is when its
// member was found to be removed, in RFC 3339. The delay after which it is deleted counts from it, or from
// when the annotation was written, as managedFields say, if that is later. It goes when the member comes
// back.
const RetiredAtAnnotation = GroupName + "/retired-at"

// ObjectInputsAnnotation is on an object that a set has made from one of its templates. It is a digest
// of what the object was made from.
const ObjectInputsAnnotation = GroupName + "/inputs"

// The labels of such an object: its set, its template and, if a member's, its ordinal.
const (
	ObjectSetLabel      = GroupName + "/set"
	ObjectTemplateLabel = GroupName + "/template"
	ObjectOrdinalLabel  = GroupName + "/ordinal"
)
