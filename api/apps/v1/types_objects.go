// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ObjectScope specifies how many objects are created from a template.
// +enum
type ObjectScope string

const (
	// MemberObjectScope creates one object for each desired member.
	MemberObjectScope ObjectScope = "Member"
	// SetObjectScope creates one object for the set.
	SetObjectScope ObjectScope = "Set"
)

// ExistingObjectPolicy specifies what happens if another client created an object with the name of
// an object of a template.
// +enum
type ExistingObjectPolicy string

const (
	// UseExistingObject uses the object, and never changes it.
	UseExistingObject ExistingObjectPolicy = "Use"
	// RefuseExistingObject does not change the object, and creates no pod that needs it.
	RefuseExistingObject ExistingObjectPolicy = "Refuse"
)

// ObjectTemplate describes an object, such as a Service or a ConfigMap, that the controller creates
// for each member, or once for the set. A pod is created only after the objects of its member and
// of the set; nothing else waits for objects. Objects follow their template while pods run. They
// are never deleted unless retention is set.
type ObjectTemplate struct {
	// name identifies the template in messages, labels and the status. It must be a DNS label of at
	// most 40 characters.
	// +required
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// scope is Member (the default), for one object for each member, or Set, for one object for the
	// set.
	// +optional
	// +k8s:optional
	Scope ObjectScope `json:"scope,omitempty" protobuf:"bytes,2,opt,name=scope,casttype=ObjectScope"`
	// object is the manifest. $(NAME) in its strings is replaced with the parameter of that name.
	// The parameters are those of spec.identity; parameters of a member are available only with
	// scope Member. With scope Member, the name of the object must contain $(IDENTITY). The
	// manifest has no namespace, which is that of the set, and no owner references.
	// +required
	// +patchStrategy=replace
	// +k8s:opaqueType
	Object runtime.RawExtension `json:"object" patchStrategy:"replace" protobuf:"bytes,3,opt,name=object"`
	// transforms compute fields of the object, with its parameters, in the order of the list. At
	// most 32. REPLICAS is a parameter here, and is a number. MEMBERS is the list of the desired
	// members, each with identity, ordinal and, with serviceName, dnsName. With scope Member, the
	// list can have at most 128 members.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=32
	Transforms []Transform `json:"transforms,omitempty" protobuf:"bytes,4,rep,name=transforms"`
	// existingPolicy specifies what happens if another client created an object of that name. With
	// Use (the default), the set uses the object and never changes it. With Refuse, the set is
	// stalled.
	// +optional
	// +k8s:optional
	ExistingPolicy ExistingObjectPolicy `json:"existingPolicy,omitempty" protobuf:"bytes,5,opt,name=existingPolicy,casttype=ExistingObjectPolicy"`
	// outputs are strings that are read from the object. Pods can use them like the parameters of
	// spec.identity, where the kubelet expands variables and in identity.env. A pod that names an
	// output is created only when there is a value, and keeps that value. Objects that are Secrets
	// cannot have outputs. At most 8 in a set.
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
	// retention specifies when objects are deleted. If it is not set, they are never deleted.
	// +optional
	// +k8s:optional
	Retention *ObjectRetention `json:"retention,omitempty" protobuf:"bytes,7,opt,name=retention"`
	// generate lists keys for which random values are generated when a Secret is created. The
	// values never change. A Secret that exists is not changed. A Secret that was deleted is not
	// generated again while a claim or a pod of the set names it. It is allowed for Secrets only.
	// At most 16 keys.
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

// ObjectOutput is a string that is read from an object in the host cluster.
type ObjectOutput struct {
	// name is the name of the parameter. It has at most 40 upper-case letters, digits and
	// underscores, begins with a letter, and does not end with an underscore.
	// +required
	// +k8s:required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// expression is a CEL expression that computes the string from the variable object. It has at
	// most 1024 bytes, and so has the result. While the evaluation fails, for example because a
	// field is missing, there is no value. An empty string is a value.
	// +required
	// +k8s:required
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=expression"`
}

// IsForSet reports whether one object is created for the whole set.
func (t *ObjectTemplate) IsForSet() bool { return t.Scope == SetObjectScope }

// ObjectTemplateStatus describes the state of the objects of a template.
type ObjectTemplateStatus struct {
	// name is the name of the template.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// kind is the kind of the objects, such as "Service" or "Certificate.cert-manager.io".
	// +optional
	Kind string `json:"kind,omitempty" protobuf:"bytes,2,opt,name=kind"`
	// objectName is the name of the objects, with the parameters that the template has. It is empty
	// until the controller has checked which of the objects exist.
	// +optional
	ObjectName string `json:"objectName,omitempty" protobuf:"bytes,3,opt,name=objectName"`
	// wanted is the number of desired objects.
	// +optional
	Wanted int32 `json:"wanted,omitempty" protobuf:"varint,4,opt,name=wanted"`
	// present is the number of desired objects that exist and that the set owns.
	// +optional
	Present int32 `json:"present,omitempty" protobuf:"varint,5,opt,name=present"`
	// updated is the number of these objects that match the current template.
	// +optional
	Updated int32 `json:"updated,omitempty" protobuf:"varint,6,opt,name=updated"`
	// foreign is the number of desired objects that the set does not own, and uses without changing
	// them.
	// +optional
	Foreign int32 `json:"foreign,omitempty" protobuf:"varint,7,opt,name=foreign"`
	// retired is the number of objects of removed members, or of a removed template, that will be
	// deleted.
	// +optional
	Retired int32 `json:"retired,omitempty" protobuf:"varint,8,opt,name=retired"`
	// removedAt is the time when the template was removed from the spec. It is absent while the
	// spec has the template. The entry is kept until the objects of the template are deleted,
	// according to retention.
	// +optional
	// +k8s:opaqueType
	RemovedAt *metav1.Time `json:"removedAt,omitempty" protobuf:"bytes,9,opt,name=removedAt"`
	// apiVersion is the API version of the objects of a removed template.
	// +optional
	APIVersion string `json:"apiVersion,omitempty" protobuf:"bytes,10,opt,name=apiVersion"`
	// retention is the last retention of a removed template.
	// +optional
	// +k8s:opaqueType
	Retention *ObjectRetention `json:"retention,omitempty" protobuf:"bytes,11,opt,name=retention"`
	// message says why the first object that is missing or out of date is in that state. It is
	// empty if there is none.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,12,opt,name=message"`
	// dueTime is the time when the first of the retired objects will be deleted.
	// +optional
	// +k8s:opaqueType
	DueTime *metav1.Time `json:"dueTime,omitempty" protobuf:"bytes,13,opt,name=dueTime"`
}
