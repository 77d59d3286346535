// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// createObject stores an object, unless an object of its kind and name exists.
func (s *Simulated) createObject(a action.CreateObject) error {
	key := action.ObjectKey(a.Object)
	if s.Objects[key] != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{}, a.Object.GetName())
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	made := s.object(a.Object, action.Target{Name: a.Object.GetName(), UID: types.UID(fmt.Sprintf("uid-%d", version))}, version)
	made.OwnerReferences = a.Object.GetOwnerReferences()
	s.Objects[key] = made
	return nil
}

// applyObject changes an existing object, if its version is still exactly the one that was decided
// on.
func (s *Simulated) applyObject(a action.ApplyObject) error {
	key := action.ObjectKey(a.Object)
	stored := s.Objects[key]
	if stored == nil || action.Exact(stored) != a.At {
		return apierrors.NewConflict(schema.GroupResource{}, a.At.Name,
			fmt.Errorf("the cluster has another %s than %+v", action.ObjectText(a.Object), a.At))
	}
	version, err := s.Write()
	if err != nil {
		return err
	}
	changed := s.object(a.Object, a.At, version)
	changed.OwnerReferences = slices.Concat(ownersBeside(stored, s.Set.Name), a.Object.GetOwnerReferences())
	if made, has := stored.Annotations[v1.GeneratedAnnotation]; has { // an apply does not contain it
		changed.Annotations = action.Merged(changed.Annotations, map[string]string{v1.GeneratedAnnotation: made})
	}
	s.Objects[key] = changed
	return nil
}

func (s *Simulated) object(made *unstructured.Unstructured, at action.Target, version int) *Object {
	object := &Object{ObjectMeta: metav1.ObjectMeta{
		Name: at.Name, UID: at.UID, ResourceVersion: strconv.Itoa(version), Labels: made.GetLabels(), Annotations: made.GetAnnotations()}}
	for i := range s.Set.Spec.ObjectTemplates {
		if template := &s.Set.Spec.ObjectTemplates[i]; template.Name == made.GetLabels()[v1.ObjectTemplateLabel] {
			object.Outputs = AssumedOutputs(template)
		}
	}
	return object
}

// markObject sets or removes the date on an object.
func (s *Simulated) markObject(a action.MarkObject) error {
	return s.changeObject(a.Kind, a.At, func(object *Object) {
		object.Annotations, object.ManagedFields = maps.Clone(object.Annotations), nil
		delete(object.Annotations, v1.RetiredAtAnnotation)
		if note := a.Note(); note != nil {
			object.Annotations = action.Merged(object.Annotations, map[string]string{v1.RetiredAtAnnotation: *note})
			object.ManagedFields = retiredFields(s.Now)
		}
	})
}

// changeObject changes the metadata of an object, if its version is still exactly the one that was
// decided on.
func (s *Simulated) changeObject(kind schema.GroupVersionKind, at action.Target, do func(*Object)) error {
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

// deleteObject deletes an object, unless the object is not due by the clock of the cluster, or a
// pod exists that may use it, regardless of the controller of the pod: the executor checks that
// with the host cluster first.
func (s *Simulated) deleteObject(a action.DeleteObject) error {
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

func (s *Simulated) exactObject(key identity.ObjectKey, at action.Target) (*Object, error) {
	stored := s.Objects[key]
	if stored == nil || action.Exact(stored) != at {
		return nil, apierrors.NewConflict(schema.GroupResource{}, at.Name, fmt.Errorf("the cluster has another %s than %+v", key, at))
	}
	return stored, nil
}
