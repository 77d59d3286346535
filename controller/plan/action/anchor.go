// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
)

// CreateAnchor creates the anchor: the owner of the set's objects that are deleted with the set.
type CreateAnchor struct{ Anchor *appsv1.ControllerRevision }

// OwnAnchor adds the set to the owners of its anchor.
type OwnAnchor struct{ Anchor Target }

// SetObjectOwners replaces the owners of an object and changes nothing else. The digest records
// that: if the member of the object becomes desired again, the controller applies the object where
// it differs from its template.
type SetObjectOwners struct {
	Ordinal  int
	Template string
	Kind     schema.GroupVersionKind
	At       Target
	Owners   []metav1.OwnerReference
	Digest   string
}

func (a CreateAnchor) String() string { return "create anchor " + a.Anchor.Name }

func (a OwnAnchor) String() string { return "take ownership of anchor " + a.Anchor.Name }

func (a SetObjectOwners) String() string {
	return fmt.Sprintf("set owners of %s %s", a.Kind.Kind, a.At.Name)
}

// Compare orders such actions by their objects.
func (a SetObjectOwners) Compare(b SetObjectOwners) int {
	return cmp.Or(cmp.Compare(a.Kind.Group, b.Kind.Group), cmp.Compare(a.Kind.Kind, b.Kind.Kind), cmp.Compare(a.At.Name, b.At.Name))
}

// Apply sets the owners of an object, and records the digest.
func (a SetObjectOwners) Apply(object metav1.Object) {
	object.SetOwnerReferences(a.Owners)
	object.SetAnnotations(Merged(object.GetAnnotations(), map[string]string{v1.ObjectInputsAnnotation: a.Digest}))
}

func (CreateAnchor) action()    {}
func (OwnAnchor) action()       {}
func (SetObjectOwners) action() {}
