// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "time"

// ObjectRetentionPolicyType says what becomes of an object that is not needed any more.
// +enum
type ObjectRetentionPolicyType string

const (
	// RetainObjectRetentionPolicyType keeps it.
	RetainObjectRetentionPolicyType ObjectRetentionPolicyType = "Retain"
	// DeleteObjectRetentionPolicyType deletes it.
	DeleteObjectRetentionPolicyType ObjectRetentionPolicyType = "Delete"
)

// ObjectRetention says how long objects are kept. Without it, for ever.
type ObjectRetention struct {
	// whenScaled says what becomes of the object of a member that is not wanted any more and has no
	// pod, and of any object when its template is removed, and no pod is left that may use it. Without
	// it, Retain. Delete needs a right of whoever asks for it, and one of the controller.
	// +optional
	// +k8s:optional
	WhenScaled ObjectRetentionPolicyType `json:"whenScaled,omitempty" protobuf:"bytes,1,opt,name=whenScaled,casttype=ObjectRetentionPolicyType"`
	// whenDeleted says what becomes of the objects when the set is deleted, those of removed members
	// included. Without it, Retain. Delete has the host's garbage collector delete them, soon after the
	// set is gone and whether or not its pods have ended; it needs a right of whoever asks for it. Where
	// the set is deleted with the option to orphan what belongs to it, they stay.
	// +optional
	// +k8s:optional
	WhenDeleted ObjectRetentionPolicyType `json:"whenDeleted,omitempty" protobuf:"bytes,2,opt,name=whenDeleted,casttype=ObjectRetentionPolicyType"`
	// scaledAfterSeconds is how long such an object is kept before it is deleted. It is used as it is
	// if the member, or the template, comes back before. Only with whenScaled Delete. Without it, the
	// object is deleted as soon as no pod may use it.
	// +optional
	// +k8s:optional
	ScaledAfterSeconds *int32 `json:"scaledAfterSeconds,omitempty" protobuf:"varint,3,opt,name=scaledAfterSeconds"`
}

// DeletesScaled reports whether objects of removed members, and of the template when it is removed, are
// deleted, and how long after that.
func (t *ObjectTemplate) DeletesScaled() (after time.Duration, deletes bool) {
	return t.Retention.DeletesScaled()
}

// DeletesScaled is that of the templates that have the retention, which may be nil.
func (r *ObjectRetention) DeletesScaled() (after time.Duration, deletes bool) {
	if r == nil || r.WhenScaled != DeleteObjectRetentionPolicyType {
		return 0, false
	}
	if r.ScaledAfterSeconds != nil {
		after = Seconds(*r.ScaledAfterSeconds)
	}
	return after, true
}

// DeletesWithSet reports whether objects are deleted with their set.
func (t *ObjectTemplate) DeletesWithSet() bool {
	return t.Retention != nil && t.Retention.WhenDeleted == DeleteObjectRetentionPolicyType
}
