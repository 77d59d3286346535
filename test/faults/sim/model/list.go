// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// List returns all objects of a resource in the order of their names, in one namespace or, if it is
// empty, in all.
func (s *Server) List(resource schema.GroupVersionResource, namespace string) []Object {
	return sorted(s.objects[resource], namespace, labels.Everything())
}

// listAt returns a list as of an earlier version, zero for now.
func (s *Server) listAt(resource schema.GroupVersionResource, namespace string, selector labels.Selector,
	at int64) (runtime.Object, error) {
	list := s.kinds[resource].newList()
	objects := sorted(s.asOf(resource, at), namespace, selector)
	items := make([]runtime.Object, 0, len(objects))
	for _, object := range objects {
		items = append(items, object)
	}
	if err := meta.SetList(list, items); err != nil {
		return nil, fmt.Errorf("creating a list of %s: %w", resource.Resource, err)
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, fmt.Errorf("creating a list of %s: %w", resource.Resource, err)
	}
	accessor.SetResourceVersion(strconv.FormatInt(s.at(at), 10))
	return list, nil
}

func (s *Server) at(version int64) int64 {
	if version == 0 {
		return s.version
	}
	return version
}

// asOf returns the state at a version, zero for now.
func (s *Server) asOf(resource schema.GroupVersionResource, version int64) map[types.NamespacedName]Object {
	if version == 0 {
		return s.objects[resource]
	}
	then := map[types.NamespacedName]Object{}
	for _, change := range s.changes[resource] {
		if change.Version > version {
			break
		}
		if change.Type == watch.Deleted {
			delete(then, key(change.Object))
		} else {
			then[key(change.Object)] = change.Object
		}
	}
	return then
}

func sorted(objects map[types.NamespacedName]Object, namespace string, selector labels.Selector) []Object {
	all := slices.SortedFunc(maps.Values(objects), func(a, b Object) int { return strings.Compare(key(a).String(), key(b).String()) })
	return slices.DeleteFunc(all, func(object Object) bool {
		return namespace != "" && object.GetNamespace() != namespace || !selector.Matches(labels.Set(object.GetLabels()))
	})
}

func selectorOf(options metav1.ListOptions) (labels.Selector, error) {
	selector, err := labels.Parse(options.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("labelSelector %q: %v", options.LabelSelector, err))
	}
	return selector, nil
}

// only keeps the object with a name in a list, and removes all others.
func only(list runtime.Object, name string) (runtime.Object, error) {
	_, objects := Items(list)
	var items []runtime.Object
	for _, object := range objects {
		if object.GetName() == name {
			items = append(items, object)
		}
	}
	if err := meta.SetList(list, items); err != nil {
		return nil, fmt.Errorf("creating a list of %s: %w", name, err)
	}
	return list, nil
}

// Items returns the metadata and the objects of a list.
func Items(list runtime.Object) (metav1.ListInterface, []Object) {
	var objects []Object
	// These calls fail only for something that is not a list.
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		objects = append(objects, item.(Object))
		return nil
	})
	accessor, _ := meta.ListAccessor(list)
	return accessor, objects
}

// Past returns the state of an object at a version, nil if the object never had that version.
func (s *Server) Past(resource schema.GroupVersionResource, name string, uid types.UID, version string) Object {
	if object := s.PastAt(resource, name, version); object != nil && object.GetUID() == uid {
		return object
	}
	return nil
}

// PastAt returns the state of the object with a name at a version, whatever its UID, nil if there
// was none.
func (s *Server) PastAt(resource schema.GroupVersionResource, name, version string) Object {
	for _, change := range s.changes[resource] {
		if object := change.Object; object.GetName() == name && object.GetResourceVersion() == version {
			return object
		}
	}
	return nil
}
