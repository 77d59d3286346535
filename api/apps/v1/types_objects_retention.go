// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "time"

// ObjectRetentionPolicyType specifies what happens to an object that is no longer needed.
// +enum
type ObjectRetentionPolicyType string

const (
	// RetainObjectRetentionPolicyType keeps the object.
	RetainObjectRetentionPolicyType ObjectRetentionPolicyType = "Retain"
	// DeleteObjectRetentionPolicyType deletes the object.
	DeleteObjectRetentionPolicyType ObjectRetentionPolicyType = "Delete"
)

// ObjectRetention specifies when objects are deleted. If it is not set, they are never deleted.
type ObjectRetention struct {
	// whenScaled specifies what happens to the object of a member that is not desired any more and
	// has no pod. If the template is removed, it applies to all its objects, once no pod can use
	// them. It is Retain (the default) or Delete. With Delete, the user who sets it and the
	// controller need the right to delete the object.
	// +optional
	// +k8s:optional
	WhenScaled ObjectRetentionPolicyType `json:"whenScaled,omitempty" protobuf:"bytes,1,opt,name=whenScaled,casttype=ObjectRetentionPolicyType"`
	// whenDeleted specifies what happens to the objects when the set is deleted, including objects
	// of removed members. It is Retain (the default) or Delete. With Delete, the garbage collector
	// of the host cluster deletes them soon after the set is deleted, even if pods of the set still
	// run. The user who sets it needs the right to delete the objects. If the set is deleted with
	// the option to orphan its dependents, the objects are kept.
	// +optional
	// +k8s:optional
	WhenDeleted ObjectRetentionPolicyType `json:"whenDeleted,omitempty" protobuf:"bytes,2,opt,name=whenDeleted,casttype=ObjectRetentionPolicyType"`
	// scaledAfterSeconds is the number of seconds for which such an object is kept before it is
	// deleted. It must be at least 1, and requires whenScaled Delete. If the member or the template
	// returns before that, the object is used again. If it is not set, the object is deleted as
	// soon as no pod can use it.
	// +optional
	// +k8s:optional
	ScaledAfterSeconds *int32 `json:"scaledAfterSeconds,omitempty" protobuf:"varint,3,opt,name=scaledAfterSeconds"`
}

// DeletesScaled reports whether objects of removed members, and of a removed template, are deleted,
// and after which delay.
func (t *ObjectTemplate) DeletesScaled() (after time.Duration, deletes bool) {
	return t.Retention.DeletesScaled()
}

// DeletesScaled is DeletesScaled of a template with this retention, which may be nil.
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
