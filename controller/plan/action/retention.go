// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// ObjectMark says what a mark on an object records.
type ObjectMark string

// The marks on objects.
const (
	ObjectRetired ObjectMark = "retired" // its member, or its template, was removed: the delay starts
	ObjectKept    ObjectMark = "kept"    // that is back, or such objects are no longer deleted
)

// MarkObject records on an object since when it is not needed, or removes that record.
type MarkObject struct {
	Ordinal  int
	Template string
	Kind     schema.GroupVersionKind
	At       Target
	As       ObjectMark
	// Retired is when the controller found the object not needed, zero to remove the record.
	Retired time.Time
}

// DeleteObject deletes an object whose member, or whose template, was removed long enough ago.
type DeleteObject struct {
	Ordinal  int
	Template string
	// Unused is the revision whose pods do not use the object, because its template was removed.
	// It is empty if its member was removed.
	Unused string
	Kind   schema.GroupVersionKind
	At     Target
	// Retired is when the controller found the object not needed, and Due the time from which
	// it may be deleted.
	Retired, Due time.Time
}

func (a MarkObject) String() string {
	return fmt.Sprintf("mark %s %s as %s", a.Kind.Kind, a.At.Name, a.As)
}

func (a DeleteObject) String() string {
	if a.Unused != "" {
		return fmt.Sprintf("delete %s %s (template %s removed, not needed since %s)", a.Kind.Kind, a.At.Name, a.Template,
			words.Timestamp(a.Retired))
	}
	return fmt.Sprintf("delete %s %s (member removed by %s)", a.Kind.Kind, a.At.Name, words.Timestamp(a.Retired))
}

// MayBeUsedBy reports whether a pod may use the object. The caller passes the pod of the object's
// member, or any pod if the object belongs to the set.
func (a DeleteObject) MayBeUsedBy(pod metav1.Object) bool {
	return a.Unused == "" || pod.GetLabels()[identity.RevisionLabel] != a.Unused
}

func (MarkObject) action()   {}
func (DeleteObject) action() {}

// Note is the value of the annotation on the object, nil to remove it.
func (a MarkObject) Note() *string {
	if a.Retired.IsZero() {
		return nil
	}
	return new(words.Timestamp(a.Retired))
}
