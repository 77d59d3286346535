// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HoldAnnotation suspends a set. While a set has it, with any value, the controller writes nothing
// to the host cluster for the set, and keeps the revisions and the collision count in its status.
// The value says why, for people.
const HoldAnnotation = GroupName + "/hold"

// Held reports whether a set is suspended, and the reason in the annotation.
func Held(set *StatefulSet) (why string, held bool) {
	why, held = set.Annotations[HoldAnnotation]
	return why, held
}

// EvaluateAnnotation releases a set whose evaluation is stopped, if its value is
// status.evaluation.stoppedAt: the controller evaluates the expressions of the set once more. A
// later stop needs another value.
const EvaluateAnnotation = GroupName + "/evaluate"

// ClaimTemplatesAnnotation is on the pods of a set with spec.volumeClaimUpdate. It names the claim
// templates with which the pod was created. If admission in the host cluster changes what pods
// mount, such a pod is not recreated again and again for it.
const ClaimTemplatesAnnotation = GroupName + "/claim-templates"

// InPlaceAnnotation is on a pod whose containers are being restarted or resized by an update in
// place. Its value is JSON: the previous revision of the pod, its new revision, the time of the
// change, the previous ID of each container that is restarted, and the new resources of each
// container that is resized. The controller removes it when the restarted containers have other IDs
// and the resized ones have the new resources.
const InPlaceAnnotation = GroupName + "/in-place"

// DisruptionAnnotation is on a pod about which the gates of its set are asked. Its value is JSON:
// id, the number of the request for this pod; operation; revision, at which the member will return,
// or empty if it will not return; and since.
const DisruptionAnnotation = GroupName + "/disruption"

// DisruptionCountAnnotation is on a pod about which gates were asked at any time. It is the id of
// the last request. It stays when a request is withdrawn, so that no later request gets the same
// id.
const DisruptionCountAnnotation = GroupName + "/disruption-count"

// OverrideAnnotation is on a pod that an override (spec.overrides) changed when the pod was
// created. Its value is a digest of the parts of the override that apply to pods. The controller
// recreates the member only when that digest is out of date.
const OverrideAnnotation = GroupName + "/override"

// ReplicasAnnotation is on a pod that names the parameter REPLICAS (spec.identity). Its value is
// spec.replicas of the set, and is kept up to date while the pod runs. A container reads it when it
// starts, a downwardAPI volume at once.
const ReplicasAnnotation = GroupName + "/replicas"

// OutputAnnotationPrefix is the prefix of annotations on a pod that names outputs of objects
// (spec.objectTemplates). The name of the output follows. The value is that of the output when the
// pod was created. Containers read it from there.
const OutputAnnotationPrefix = GroupName + "/output."

// ProtectAnnotation protects a set. While the stored set has it, with any value, the set cannot be
// deleted and spec.replicas cannot become 0. The value says why, for people.
const ProtectAnnotation = GroupName + "/protect"

// mostOfReason is the maximum number of characters of a reason that a message repeats.
const mostOfReason = 100

// Protected reports whether a set, or its metadata, is protected, and the reason in the annotation.
// A set that is being deleted is not protected: its deletion continues.
func Protected(set metav1.Object) (why string, protected bool) {
	why, protected = set.GetAnnotations()[ProtectAnnotation]
	if set.GetDeletionTimestamp() != nil {
		return why, false
	}
	return why, protected
}

// ExplainProtection returns a message that a set is protected, with the reason and what to do.
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

// OwnerAnnotation names a set, as "<name>/<UID>". On an object that a set created from a template,
// it decides which set owns the object. On a claim, it names the set whose member was the last to
// mount it. The controller sets it while a pod of the member mounts the claim, if the set deletes
// claims of removed members after a delay. It deletes no claim without the annotation. So a user
// who removes it from a claim of a removed member keeps that claim.
const OwnerAnnotation = GroupName + "/owner"

// RetiredAtAnnotation is on a claim, or on an object that a set created for a member. It is the
// time, in RFC 3339, at which the controller found that the member was removed. The delay before
// the deletion counts from that time. If managedFields show that the annotation was written later,
// the delay counts from the time of the write. The controller removes it when the member returns.
const RetiredAtAnnotation = GroupName + "/retired-at"

// ObjectInputsAnnotation is on an object that a set created from a template. It is a digest of the
// data from which the object was rendered.
const ObjectInputsAnnotation = GroupName + "/inputs"

// The labels of such an object: its set, its template and, for an object of a member, its ordinal.
const (
	ObjectSetLabel      = GroupName + "/set"
	ObjectTemplateLabel = GroupName + "/template"
	ObjectOrdinalLabel  = GroupName + "/ordinal"
)
