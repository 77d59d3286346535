// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/identity"
)

// CreateAnchor creates what owns those objects of the set that are deleted with it.
type CreateAnchor struct{ Anchor *appsv1.ControllerRevision }

// OwnAnchor makes the set an owner of its anchor, beside others that it has.
type OwnAnchor struct{ Anchor Target }

// SetObjectOwners replaces the owners of an object, which is otherwise left as it is.
type SetObjectOwners struct {
	Ordinal  int
	Template string
	Kind     schema.GroupVersionKind
	At       Target
	Owners   []metav1.OwnerReference
}

func (a CreateAnchor) String() string { return "create anchor " + a.Anchor.Name }

func (a OwnAnchor) String() string { return "own anchor " + a.Anchor.Name }

func (a SetObjectOwners) String() string {
	return fmt.Sprintf("set owners of %s %s", a.Kind.Kind, a.At.Name)
}

func (CreateAnchor) action()    {}
func (OwnAnchor) action()       {}
func (SetObjectOwners) action() {}

func (s *Simulated) changeAnchor(action Action) error {
	if a, ok := action.(CreateAnchor); ok {
		made := *a.Anchor
		return put(s, s.Revisions, &made)
	}
	a, _ := action.(OwnAnchor)
	return hit(s, s.Revisions, a.Anchor, func(r *appsv1.ControllerRevision) {
		r.OwnerReferences = append(slices.Clip(r.OwnerReferences), identity.AnchorOwner(s.Set))
	})
}

func (s *Simulated) setObjectOwners(a SetObjectOwners) error {
	key := identity.ObjectKey{Group: a.Kind.Group, Kind: a.Kind.Kind, Name: a.At.Name}
	stored, err := s.exactObject(key, a.At)
	if err != nil {
		return err
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	changed := *stored
	changed.ResourceVersion, changed.OwnerReferences = strconv.Itoa(version), a.Owners
	s.Objects[key] = &changed
	return nil
}
