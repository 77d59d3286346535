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

// CreateAnchor creates what owns those objects of the set that are deleted with it.
type CreateAnchor struct{ Anchor *appsv1.ControllerRevision }

// OwnAnchor makes the set an owner of its anchor, beside others that it has.
type OwnAnchor struct{ Anchor Target }

// SetObjectOwners replaces the owners of an object, which is otherwise left as it is. Its digest tells
// of that: if its member is wanted again, the object is applied where its template says otherwise.
type SetObjectOwners struct {
	Ordinal  int
	Template string
	Kind     schema.GroupVersionKind
	At       Target
	Owners   []metav1.OwnerReference
	Digest   string
}

func (a CreateAnchor) String() string { return "create anchor " + a.Anchor.Name }

func (a OwnAnchor) String() string { return "own anchor " + a.Anchor.Name }

func (a SetObjectOwners) String() string {
	return fmt.Sprintf("set owners of %s %s", a.Kind.Kind, a.At.Name)
}

// Compare orders them by the objects that they are about.
func (a SetObjectOwners) Compare(b SetObjectOwners) int {
	return cmp.Or(cmp.Compare(a.Kind.Group, b.Kind.Group), cmp.Compare(a.Kind.Kind, b.Kind.Kind), cmp.Compare(a.At.Name, b.At.Name))
}

// Apply gives an object the owners, and notes the digest.
func (a SetObjectOwners) Apply(object metav1.Object) {
	object.SetOwnerReferences(a.Owners)
	object.SetAnnotations(Merged(object.GetAnnotations(), map[string]string{v1.ObjectInputsAnnotation: a.Digest}))
}

func (CreateAnchor) action()    {}
func (OwnAnchor) action()       {}
func (SetObjectOwners) action() {}
