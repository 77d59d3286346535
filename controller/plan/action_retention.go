// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"statefulset.dev/controller/plan/words"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
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

// markObject notes something on an object.
func (s *Simulated) markObject(a MarkObject) error {
	return s.changeObject(a.Kind, a.At, func(object *Object) {
		object.Annotations, object.ManagedFields = maps.Clone(object.Annotations), nil
		delete(object.Annotations, v1.RetiredAtAnnotation)
		if note := a.Note(); note != nil {
			object.Annotations = merged(object.Annotations, map[string]string{v1.RetiredAtAnnotation: *note})
			object.ManagedFields = retiredFields(s.Now)
		}
	})
}

// changeObject changes the metadata of an object, if it is still exactly the one that was decided on.
func (s *Simulated) changeObject(kind schema.GroupVersionKind, at Target, do func(*Object)) error {
	key := identity.ObjectKey{Group: kind.Group, Kind: kind.Kind, Name: at.Name}
	stored, err := s.exactObject(key, at)
	if err != nil {
		return err
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	changed := *stored
	changed.ResourceVersion = strconv.Itoa(version)
	do(&changed)
	s.Objects[key] = &changed
	return nil
}

// deleteObject deletes an object unless it is not due by the host's clock, or there is a pod that may use
// it, whoever controls that: the executor asks the host before.
func (s *Simulated) deleteObject(a DeleteObject) error {
	key := identity.ObjectKey{Group: a.Kind.Group, Kind: a.Kind.Kind, Name: a.At.Name}
	for name, pod := range s.Pods {
		if (a.Ordinal == setOrdinal || name == identity.PodName(s.Set.Name, a.Ordinal)) && a.MayBeUsedBy(pod) {
			return apierrors.NewConflict(schema.GroupResource{}, a.At.Name, fmt.Errorf("pod %s exists", name))
		}
	}
	if s.Now.Before(a.Due) {
		return apierrors.NewConflict(schema.GroupResource{}, a.At.Name, errNotDue)
	}
	if _, err := s.exactObject(key, a.At); err != nil {
		return err
	}
	if _, err := s.Write(); err != nil {
		return err
	}
	delete(s.Objects, key)
	return nil
}

func (s *Simulated) exactObject(key identity.ObjectKey, at Target) (*Object, error) {
	stored := s.Objects[key]
	if stored == nil || exact(stored) != at {
		return nil, apierrors.NewConflict(schema.GroupResource{}, at.Name, fmt.Errorf("the host has another %s than %+v", key, at))
	}
	return stored, nil
}
