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

// ObjectMark says what is noted on an object.
type ObjectMark string

// What is noted on objects.
const (
	ObjectRetired ObjectMark = "retired" // its member, or its template, was removed: the delay begins
	ObjectKept    ObjectMark = "kept"    // that is back, or such objects are not deleted any more
)

// MarkObject notes on an object since when it is not needed, or takes that off.
type MarkObject struct {
	Ordinal  int
	Template string
	Kind     schema.GroupVersionKind
	At       Target
	As       ObjectMark
	// Retired is when the object was found not to be needed, zero if that is taken off.
	Retired time.Time
}

// DeleteObject deletes an object of which the member, or the template, was removed long enough ago.
type DeleteObject struct {
	Ordinal  int
	Template string
	// Unused is the revision whose pods do not use the object, because its template was removed; empty
	// if its member was.
	Unused string
	Kind   schema.GroupVersionKind
	At     Target
	// Retired is when the object was found not to be needed, and Due since when it may be deleted
	// for that.
	Retired, Due time.Time
}

func (a MarkObject) String() string {
	return fmt.Sprintf("mark %s %s as %s", a.Kind.Kind, a.At.Name, a.As)
}

func (a DeleteObject) String() string {
	if a.Unused != "" {
		return fmt.Sprintf("delete %s %s (template %s removed, not needed since %s)", a.Kind.Kind, a.At.Name, a.Template, words.Clock(a.Retired))
	}
	return fmt.Sprintf("delete %s %s (member removed by %s)", a.Kind.Kind, a.At.Name, words.Clock(a.Retired))
}

// MayBeUsedBy reports whether a pod may use the object: one of its member, or any if the object is the
// set's.
func (a DeleteObject) MayBeUsedBy(pod metav1.Object) bool {
	return a.Unused == "" || pod.GetLabels()[identity.RevisionLabel] != a.Unused
}

func (MarkObject) action()   {}
func (DeleteObject) action() {}

// Note is what the annotation of the object becomes, nil if it is removed.
func (a MarkObject) Note() *string {
	if a.Retired.IsZero() {
		return nil
	}
	return new(words.Clock(a.Retired))
}
