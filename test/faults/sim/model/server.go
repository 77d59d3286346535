// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// Server stores the objects of some resources, which share one counter of resource versions.
type Server struct {
	// Now returns the time, and NewUID creates UIDs. The caller provides both.
	Now    func() time.Time
	NewUID func() types.UID
	// Changed, if set, is called for every change at once.
	Changed func(schema.GroupVersionResource, Change)

	kinds   map[schema.GroupVersionResource]kind
	codec   codec
	objects map[schema.GroupVersionResource]map[types.NamespacedName]Object
	changes map[schema.GroupVersionResource][]Change
	// oldest is the version before which changes are forgotten.
	oldest  map[schema.GroupVersionResource]int64
	version int64
}

// Change is one version of one object. Object is the new state, or the last one if the object was
// removed, and Before the state that was replaced, nil if there was none.
type Change struct {
	Type           watch.EventType
	Object, Before Object
	Version        int64
}

// NewHost returns a server of the host cluster's resources: pods, claims, revisions, ConfigMaps,
// Secrets, leases, events, and those on which its responses may depend.
func NewHost(now func() time.Time, newUID func() types.UID) *Server {
	return newServer(now, newUID, hostKinds(), hostCodec())
}

// NewSets returns a server of our sets.
func NewSets(now func() time.Time, newUID func() types.UID) *Server {
	return newServer(now, newUID, setKinds(), setCodec())
}

func newServer(now func() time.Time, newUID func() types.UID, kinds map[schema.GroupVersionResource]kind, codec codec) *Server {
	s := &Server{
		Now: now, NewUID: newUID, kinds: kinds, codec: codec, version: 1,
		objects: map[schema.GroupVersionResource]map[types.NamespacedName]Object{},
		changes: map[schema.GroupVersionResource][]Change{},
		oldest:  map[schema.GroupVersionResource]int64{},
	}
	for resource := range kinds {
		s.objects[resource] = map[types.NamespacedName]Object{}
	}
	return s
}

// Version returns the current resource version of the server.
func (s *Server) Version() int64 { return s.version }

// Serves reports whether the server has the resource.
func (s *Server) Serves(resource schema.GroupVersionResource) bool {
	_, ok := s.kinds[resource]
	return ok
}

// Get returns an object.
func (s *Server) Get(resource schema.GroupVersionResource, namespace, name string) (Object, error) {
	object, ok := s.objects[resource][types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok {
		return nil, apierrors.NewNotFound(resource.GroupResource(), name)
	}
	return object, nil
}

// The manager of fields that were not written by a request.
const somebody = "somebody"

// Create stores a new object.
func (s *Server) Create(resource schema.GroupVersionResource, namespace string, object Object) (Object, error) {
	return s.create(resource, namespace, somebody, object)
}

func (s *Server) create(resource schema.GroupVersionResource, namespace, manager string, object Object) (Object, error) {
	kind := s.kinds[resource]
	object = object.DeepCopyObject().(Object)
	if object.GetResourceVersion() != "" {
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	object.SetNamespace(namespace)
	uid := s.NewUID()
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(object.GetGenerateName() + string(uid)[len(uid)-5:])
	}
	if object.GetName() == "" {
		return nil, invalid(kind.gvk, "", field.Required(field.NewPath("metadata", "name"), "name or generateName is required"))
	}
	if _, taken := s.objects[resource][key(object)]; taken {
		return nil, apierrors.NewAlreadyExists(resource.GroupResource(), object.GetName())
	}
	object.SetUID(uid)
	now := s.now()
	object.SetCreationTimestamp(now)
	object.SetDeletionTimestamp(nil)
	object.SetDeletionGracePeriodSeconds(nil)
	object.SetManagedFields(nil)
	if kind.create != nil {
		kind.create(object, now.Time)
	}
	return s.put(resource, watch.Added, kind.managed(kind.empty(), object, manager), nil), nil
}

// Update replaces an object, or one of its subresources, with the result of change for a copy of
// it. If that contains a resource version or a UID, it must match the object's.
func (s *Server) Update(resource schema.GroupVersionResource, namespace, name, subresource string,
	change func(Object) (Object, error)) (Object, error) {
	return s.change(resource, namespace, name, subresource, somebody, change)
}

// Patch changes an object with a JSON merge patch.
func (s *Server) Patch(resource schema.GroupVersionResource, namespace, name string, patch []byte) (Object, error) {
	return s.Update(resource, namespace, name, "", func(old Object) (Object, error) {
		return s.kinds[resource].applyPatch(old, types.MergePatchType, patch)
	})
}

// change is Update with the manager of the changed fields. The manager is empty if the object
// already contains its managed fields.
func (s *Server) change(resource schema.GroupVersionResource, namespace, name, subresource, manager string,
	change func(Object) (Object, error)) (Object, error) {
	old, err := s.Get(resource, namespace, name)
	if err != nil {
		return nil, err
	}
	kind := s.kinds[resource]
	object, err := change(old.DeepCopyObject().(Object))
	if err != nil {
		return nil, err
	}
	if version := object.GetResourceVersion(); version != "" && version != old.GetResourceVersion() {
		return nil, apierrors.NewConflict(resource.GroupResource(), name, errors.New("the object has been modified"))
	}
	if uid := object.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, invalid(kind.gvk, name, field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable"))
	}
	if old.GetDeletionTimestamp() != nil && !containsAll(old.GetFinalizers(), object.GetFinalizers()) {
		return nil, invalid(kind.gvk, name,
			field.Forbidden(field.NewPath("metadata", "finalizers"), "no new finalizers can be added if the object is being deleted"))
	}
	if manager != "" {
		object = kind.managed(old, object, manager)
	}
	keepSystemFields(object, old)
	if kind.update != nil {
		kind.update(object, old, subresource, s.now().Time)
	}
	if equality.Semantic.DeepEqual(object, old) {
		return old, nil
	}
	if old.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 && graceIsOver(old) {
		s.drop(resource, object)
		return object, nil
	}
	return s.put(resource, watch.Modified, object, old), nil
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// keepSystemFields restores the fields that an update cannot change.
func keepSystemFields(object, old Object) {
	object.SetNamespace(old.GetNamespace())
	object.SetName(old.GetName())
	object.SetUID(old.GetUID())
	object.SetResourceVersion(old.GetResourceVersion())
	object.SetGeneration(old.GetGeneration())
	object.SetCreationTimestamp(old.GetCreationTimestamp())
	object.SetDeletionTimestamp(old.GetDeletionTimestamp())
	object.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
}

// put stores a new state at a new version.
func (s *Server) put(resource schema.GroupVersionResource, how watch.EventType, object, before Object) Object {
	s.objects[resource][key(object)] = object
	s.note(resource, Change{Type: how, Object: object, Before: before})
	return object
}

// drop removes an object, whose last state gets a version too.
func (s *Server) drop(resource schema.GroupVersionResource, last Object) Object {
	last = last.DeepCopyObject().(Object)
	before := s.objects[resource][key(last)]
	delete(s.objects[resource], key(last))
	s.note(resource, Change{Type: watch.Deleted, Object: last, Before: before})
	return last
}

func (s *Server) note(resource schema.GroupVersionResource, change Change) {
	s.version++
	change.Version = s.version
	change.Object.SetResourceVersion(strconv.FormatInt(s.version, 10))
	change.Object.GetObjectKind().SetGroupVersionKind(s.kinds[resource].gvk)
	s.changes[resource] = append(s.changes[resource], change)
	if s.Changed != nil {
		s.Changed(resource, change)
	}
}

// now returns the time in whole seconds, as objects contain it.
func (s *Server) now() metav1.Time { return metav1.NewTime(s.Now().Truncate(time.Second)) }

func key(object Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func invalid(gvk schema.GroupVersionKind, name string, err *field.Error) error {
	return apierrors.NewInvalid(gvk.GroupKind(), name, field.ErrorList{err})
}

func parseVersion(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("resourceVersion %q is not a number", text))
	}
	return version, nil
}
