// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stub is what the caches keep of an object that can be no set's: that its name is
// taken, and by whom. A cluster may have a hundred such objects for each of ours.
type stub struct {
	// Object is nil: nobody asks a stub for more than it has.
	metav1.Object

	namespace, name, version string
	// kind and owner name the object's controller, and are empty if it has none.
	kind, owner string
}

func newStub(object metav1.Object) *stub {
	s := &stub{namespace: object.GetNamespace(), name: object.GetName(), version: object.GetResourceVersion()}
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		s.kind, s.owner = controller.Kind, controller.Name
	}
	return s
}

func (s *stub) GetNamespace() string               { return s.namespace }
func (s *stub) GetName() string                    { return s.name }
func (s *stub) GetResourceVersion() string         { return s.version }
func (s *stub) GetUID() types.UID                  { return "" }
func (s *stub) GetDeletionTimestamp() *metav1.Time { return nil }
func (s *stub) GetOwnerReferences() []metav1.OwnerReference {
	if s.kind == "" {
		return nil
	}
	return []metav1.OwnerReference{{Kind: s.kind, Name: s.owner, Controller: new(true)}}
}

// revision is the stub as the planner may see it: a name that somebody else has.
func (s *stub) revision() *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.namespace, Name: s.name, ResourceVersion: s.version, OwnerReferences: s.GetOwnerReferences(),
	}}
}
