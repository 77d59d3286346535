// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

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
// hold up nothing. They follow the template while pods run, and stay unless retention says otherwise.
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
	// +patchStrategy=replace
	// +k8s:opaqueType
	Object runtime.RawExtension `json:"object" patchStrategy:"replace" protobuf:"bytes,3,opt,name=object"`
	// transforms change the object, with its parameters, in this order. At most 32. REPLICAS is
	// among the parameters, and is a number. MEMBERS is the list of the members that the set
	// wants, each with identity, ordinal and, with serviceName, dnsName; in objects of members
	// it may have 128.
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
	// outputs are texts that are read from the object, and that pods have as parameters, beside those
	// of spec.identity: where the kubelet looks up names, and in identity.env. A pod that names one
	// is created when there is a value, and keeps that one for its life. At most 8 in a set. Not of
	// Secrets.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:optional
	// +k8s:maxItems=8
	// +k8s:listType=map
	// +k8s:listMapKey=name
	Outputs []ObjectOutput `json:"outputs,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,6,rep,name=outputs"`
	// retention says when objects are deleted. Without it, never.
	// +optional
	// +k8s:optional
	Retention *ObjectRetention `json:"retention,omitempty" protobuf:"bytes,7,opt,name=retention"`
	// generate has random texts drawn for a Secret when it is created, by key. They never change: a
	// Secret that is there is left as it is, and one that is gone is not drawn again as long as a
	// claim or a pod of the set has known it. Only of Secrets. At most 16.
	// +optional
	// +patchMergeKey=key
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=key
	// +k8s:optional
	// +k8s:maxItems=16
	// +k8s:listType=map
	// +k8s:listMapKey=key
	Generate []GeneratedKey `json:"generate,omitempty" patchStrategy:"merge" patchMergeKey:"key" protobuf:"bytes,8,rep,name=generate"`
}

// ObjectOutput is a text that is read from an object as the host has it.
type ObjectOutput struct {
	// name is that of the parameter: at most 40 capitals, digits and underscores.
	// +required
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// expression gives the text, in CEL, from the variable object. As long as it fails, as where a
	// field is missing, there is no value yet; an empty text is one.
	// +required
	// +k8s:required
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=expression"`
}

// IsForSet reports whether one object is made for the whole set.
func (t *ObjectTemplate) IsForSet() bool { return t.Scope == SetObjectScope }

// ObjectTemplateStatus says how far the objects of a template are as it describes.
type ObjectTemplateStatus struct {
	// name is that of the template.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// kind is that of the objects, as in "Service" or "Certificate.cert-manager.io".
	// +optional
	Kind string `json:"kind,omitempty" protobuf:"bytes,2,opt,name=kind"`
	// objectName is the name of the objects as the template has it, with parameters. It is empty until
	// it is known which of them are there.
	// +optional
	ObjectName string `json:"objectName,omitempty" protobuf:"bytes,3,opt,name=objectName"`
	// wanted is how many objects there are to be.
	// +optional
	Wanted int32 `json:"wanted,omitempty" protobuf:"varint,4,opt,name=wanted"`
	// present is how many of them there are that are the set's.
	// +optional
	Present int32 `json:"present,omitempty" protobuf:"varint,5,opt,name=present"`
	// updated is how many of these are as the template describes now.
	// +optional
	Updated int32 `json:"updated,omitempty" protobuf:"varint,6,opt,name=updated"`
	// foreign is how many of the wanted objects are somebody else's, and are used as they are.
	// +optional
	Foreign int32 `json:"foreign,omitempty" protobuf:"varint,7,opt,name=foreign"`
	// retired is how many objects of removed members, or of a removed template, are to be deleted.
	// +optional
	Retired int32 `json:"retired,omitempty" protobuf:"varint,8,opt,name=retired"`
	// removedAt is when the template was removed from the spec, unset as long as it is there. The
	// entry is kept while there are objects of it to be deleted, as retention said then.
	// +optional
	// +k8s:opaqueType
	RemovedAt *metav1.Time `json:"removedAt,omitempty" protobuf:"bytes,9,opt,name=removedAt"`
	// apiVersion is that of the objects of a removed template.
	// +optional
	APIVersion string `json:"apiVersion,omitempty" protobuf:"bytes,10,opt,name=apiVersion"`
	// retention is what a removed template said of its objects last.
	// +optional
	// +k8s:opaqueType
	Retention *ObjectRetention `json:"retention,omitempty" protobuf:"bytes,11,opt,name=retention"`
	// message says what keeps the first object from being as it is to be, empty if nothing does.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,12,opt,name=message"`
	// dueTime is when the first of the retired objects is deleted.
	// +optional
	// +k8s:opaqueType
	DueTime *metav1.Time `json:"dueTime,omitempty" protobuf:"bytes,13,opt,name=dueTime"`
}
