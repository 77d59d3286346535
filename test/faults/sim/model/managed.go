// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
)

// fieldManager tracks the managers of fields of the objects of a kind, like an API server.
func fieldManager(gvk schema.GroupVersionKind) *managedfields.FieldManager {
	fields, err := managedfields.NewDefaultFieldManager(managedfields.NewDeducedTypeConverter(), scheme.Scheme, scheme.Scheme, scheme.Scheme,
		gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		panic(fmt.Sprintf("tracking the field managers of %s: %v", gvk.Kind, err))
	}
	return fields
}

// managed returns an object that a manager has changed, with updated managed fields.
func (k kind) managed(old, object Object, manager string) Object {
	if k.fields == nil {
		object.SetManagedFields(nil)
		return object
	}
	before := old.DeepCopyObject()
	before.GetObjectKind().SetGroupVersionKind(k.gvk)
	object.GetObjectKind().SetGroupVersionKind(k.gvk)
	noted, err := k.stored(k.fields.UpdateNoErrors(before, object, manager))
	if err != nil {
		panic(fmt.Sprintf("tracking the field managers of %s: %v", object.GetName(), err))
	}
	return noted
}

// stored returns an object as it is read again: times lose their fractions of a second.
func (k kind) stored(object runtime.Object) (Object, error) {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding an object: %w", err)
	}
	stored := k.empty()
	if err := json.Unmarshal(encoded, stored); err != nil {
		return nil, fmt.Errorf("decoding an object: %w", err)
	}
	return stored, nil
}

// apply carries out a server-side apply.
func (s *Server) apply(r *Request) (runtime.Object, error) {
	kind := s.kinds[r.Resource]
	applied := &unstructured.Unstructured{}
	if err := json.Unmarshal(r.Body, applied); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if _, err := s.Get(r.Resource, r.Namespace, r.Name); apierrors.IsNotFound(err) {
		if applied.GetUID() != "" {
			return nil, apierrors.NewConflict(r.Resource.GroupResource(), r.Name, errors.New("no object has this UID"))
		}
		made, err := kind.merged(kind.empty(), applied, r)
		if err != nil {
			return nil, err
		}
		return s.create(r.Resource, r.Namespace, r.Manager, made)
	}
	return s.change(r.Resource, r.Namespace, r.Name, r.Subresource, "",
		func(old Object) (Object, error) { return kind.merged(old, applied, r) })
}

func (k kind) merged(live Object, applied *unstructured.Unstructured, r *Request) (Object, error) {
	live.GetObjectKind().SetGroupVersionKind(k.gvk)
	merged, err := k.fields.Apply(live, applied, r.Manager, r.Force)
	if err != nil {
		return nil, err //nolint:wrapcheck // the server answers it
	}
	return k.stored(merged)
}

// asked returns an object as the client requests it, whole or only its metadata, and its codec.
func (s *Server) asked(request *Request, object runtime.Object) (codec, schema.GroupVersion, runtime.Object) {
	if !strings.Contains(request.Accept, "as=PartialObjectMetadata") {
		return s.codec, request.Resource.GroupVersion(), object
	}
	return codec{metainternal.Scheme, metainternal.Codecs}, metav1.SchemeGroupVersion, aboutOf(object)
}

// aboutOf returns the metadata of an object, or of the objects of a list. It returns anything else
// unchanged.
func aboutOf(object runtime.Object) runtime.Object {
	if whole, ok := object.(Object); ok {
		about := meta.AsPartialObjectMetadata(whole)
		about.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
		return about
	}
	if !meta.IsListType(object) {
		return object
	}
	options, objects := Items(object)
	list := &metav1.PartialObjectMetadataList{}
	list.SetResourceVersion(options.GetResourceVersion())
	for _, one := range objects {
		list.Items = append(list.Items, *meta.AsPartialObjectMetadata(one))
	}
	return list
}
