// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// CreateObject creates an object beside the pods. One that has its name is left as it is.
type CreateObject struct {
	// Ordinal is that of the member whose object it is, below 0 if it is the set's.
	Ordinal int
	// Template names the template that it is made from.
	Template string
	Object   *unstructured.Unstructured
	// Generate are the keys for which random texts are drawn when it is created, and not before: they
	// are in no plan.
	Generate []v1.GeneratedKey
}

// ApplyObject changes an object that exists into what its template describes. What others have set
// and the template does not mention stays.
type ApplyObject struct {
	Ordinal  int
	Template string
	At       Target
	Object   *unstructured.Unstructured
	// Why says what is wrong with the object. Corrects is true if that is only that somebody has
	// changed it.
	Why      string
	Corrects bool
}

func (a CreateObject) String() string {
	if len(a.Generate) == 0 {
		return "create " + objectText(a.Object)
	}
	return fmt.Sprintf("create %s, drawing %s", objectText(a.Object), keysText(a.Generate))
}

func (a ApplyObject) String() string { return "change " + objectText(a.Object) }

func (CreateObject) action() {}
func (ApplyObject) action()  {}

func objectText(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

func objectKey(object *unstructured.Unstructured) identity.ObjectKey {
	kind := object.GroupVersionKind()
	return identity.ObjectKey{Group: kind.Group, Kind: kind.Kind, Name: object.GetName()}
}

// createObject stores an object, unless there is one of its kind and name.
func (s *Simulated) createObject(a CreateObject) error {
	key := objectKey(a.Object)
	if s.Objects[key] != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{}, a.Object.GetName())
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	made := s.object(a.Object, Target{Name: a.Object.GetName(), UID: types.UID(fmt.Sprintf("uid-%d", version))}, version)
	made.OwnerReferences = a.Object.GetOwnerReferences()
	s.Objects[key] = made
	return nil
}

// applyObject changes an object that exists, if it is still exactly the one that was decided on.
func (s *Simulated) applyObject(a ApplyObject) error {
	key := objectKey(a.Object)
	stored := s.Objects[key]
	if stored == nil || exact(stored) != a.At {
		return apierrors.NewConflict(schema.GroupResource{}, a.At.Name, fmt.Errorf("the host has another %s than %+v", objectText(a.Object), a.At))
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	changed := s.object(a.Object, a.At, version)
	changed.OwnerReferences = slices.Concat(ownersBeside(stored, s.Set.Name), a.Object.GetOwnerReferences())
	if made, has := stored.Annotations[v1.GeneratedAnnotation]; has { // which an apply does not have
		changed.Annotations = merged(changed.Annotations, map[string]string{v1.GeneratedAnnotation: made})
	}
	s.Objects[key] = changed
	return nil
}

func (s *Simulated) object(made *unstructured.Unstructured, at Target, version int) *Object {
	object := &Object{ObjectMeta: metav1.ObjectMeta{Name: at.Name, UID: at.UID, ResourceVersion: strconv.Itoa(version), Labels: made.GetLabels(), Annotations: made.GetAnnotations()}}
	for i := range s.Set.Spec.ObjectTemplates {
		if template := &s.Set.Spec.ObjectTemplates[i]; template.Name == made.GetLabels()[v1.ObjectTemplateLabel] {
			object.Outputs = AssumedOutputs(template)
		}
	}
	return object
}
