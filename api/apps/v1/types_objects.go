// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/runtime"

// ObjectScope says how many objects are made from a template.
// +enum
type ObjectScope string

const (
	// MemberObjectScope makes one object for each wanted member.
	MemberObjectScope ObjectScope = "Member"
	// SetObjectScope makes one object for the set.
	SetObjectScope ObjectScope = "Set"
)

// ExistingObjectPolicy says what becomes of an object that is not the set's and has the name of one
// that is to be made.
// +enum
type ExistingObjectPolicy string

const (
	// UseExistingObject leaves it alone, and takes it for the one that was to be made.
	UseExistingObject ExistingObjectPolicy = "Use"
	// RefuseExistingObject leaves it alone, and creates no pod that needs the object.
	RefuseExistingObject ExistingObjectPolicy = "Refuse"
)

// ObjectTemplate describes an object that is made for each member, or once for the set: a Service, a
// ConfigMap. A pod is created when the objects of its member and of the set exist; otherwise they
// hold up nothing. They follow the template while pods run, and are deleted by nobody but their
// users.
type ObjectTemplate struct {
	// name identifies the template, in messages and for overrides of lists.
	// +required
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// scope says whether every member has an object of its own. Without it, Member.
	// +optional
	// +k8s:optional
	Scope ObjectScope `json:"scope,omitempty" protobuf:"bytes,2,opt,name=scope,casttype=ObjectScope"`
	// object is the manifest. $(NAME) in its strings becomes the parameter of that name, which are
	// those of spec.identity; those of a member are known to objects of members only. The name of
	// an object of members must contain $(IDENTITY). It has no namespace, which is the set's, and
	// no owner references.
	// +required
	// +k8s:opaqueType
	Object runtime.RawExtension `json:"object" protobuf:"bytes,3,opt,name=object"`
	// transforms change the object, with its parameters, in this order. At most 32. REPLICAS is
	// among the parameters, and is a number.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=32
	Transforms []Transform `json:"transforms,omitempty" protobuf:"bytes,4,rep,name=transforms"`
	// existingPolicy says what becomes of an object of somebody else that has the name already.
	// Without it, Use.
	// +optional
	// +k8s:optional
	ExistingPolicy ExistingObjectPolicy `json:"existingPolicy,omitempty" protobuf:"bytes,5,opt,name=existingPolicy,casttype=ExistingObjectPolicy"`
}

// IsForSet reports whether one object is made for the whole set.
func (t *ObjectTemplate) IsForSet() bool { return t.Scope == SetObjectScope }
