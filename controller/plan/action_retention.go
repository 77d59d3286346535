// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// ObjectMark says what is noted on an object.
type ObjectMark string

// What is noted on objects.
const (
	ObjectRetired ObjectMark = "retired" // its member was removed: the delay begins
	ObjectKept    ObjectMark = "kept"    // its member is back, or such objects are not deleted any more
)

// MarkObject notes on an object since when its member is removed, or takes that off.
type MarkObject struct {
	Ordinal  int
	Template string
	Kind     schema.GroupVersionKind
	At       Target
	As       ObjectMark
	// Retired is when the member was found to be removed, zero if that is taken off.
	Retired time.Time
}

// DeleteObject deletes the object of a member that was removed long enough ago.
type DeleteObject struct {
	Ordinal  int
	Template string
	Kind     schema.GroupVersionKind
	At       Target
	// Retired is when the member was found to be removed, and Due since when the object may be
	// deleted for that.
	Retired, Due time.Time
}

func (a MarkObject) String() string {
	return fmt.Sprintf("mark %s %s as %s", a.Kind.Kind, a.At.Name, a.As)
}

func (a DeleteObject) String() string {
	return fmt.Sprintf("delete %s %s (member removed by %s)", a.Kind.Kind, a.At.Name, clock(a.Retired))
}

func (MarkObject) action()   {}
func (DeleteObject) action() {}

// Note is what the annotation of the object becomes, nil if it is removed.
func (a MarkObject) Note() *string {
	if a.Retired.IsZero() {
		return nil
	}
	return new(clock(a.Retired))
}

// markObject notes something on an object.
func (s *Simulated) markObject(a MarkObject) error {
	return s.changeObject(a.Kind, a.At, func(object *Object) {
		object.Annotations = maps.Clone(object.Annotations)
		delete(object.Annotations, v1.RetiredAtAnnotation)
		if note := a.Note(); note != nil {
			object.Annotations = merged(object.Annotations, map[string]string{v1.RetiredAtAnnotation: *note})
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

// deleteObject deletes an object unless its member has a pod, whoever controls that: the executor asks
// the host before.
func (s *Simulated) deleteObject(a DeleteObject) error {
	key := identity.ObjectKey{Group: a.Kind.Group, Kind: a.Kind.Kind, Name: a.At.Name}
	if pod := identity.PodName(s.Set.Name, a.Ordinal); s.Pods[pod] != nil {
		return apierrors.NewConflict(schema.GroupResource{}, a.At.Name, fmt.Errorf("pod %s exists", pod))
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
