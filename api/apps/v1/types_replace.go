// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MostReplacements is the maximum number of members of a set that can be replaced at a time.
const MostReplacements = 32

// StatefulSetReplacement requests the replacement of members: their pods are removed, and recreated
// with the same claims at the target revision of the member. It is created at
// statefulsets/NAME/replace. The set records it in status.replacements until the pods are gone. At
// most as many members are unavailable for it as an update allows.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type StatefulSetReplacement struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`
	// metadata has the name and the namespace of the set. If it has a UID, the request is rejected
	// unless the set has that UID.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// ordinals are the members to replace. Each of them must have a pod. At most 32.
	// +listType=atomic
	Ordinals []OrdinalRange `json:"ordinals" protobuf:"bytes,2,rep,name=ordinals"`

	// force makes the server accept the request although other members are unavailable. A ready pod
	// is still removed only when no more members are unavailable than allowed.
	// +optional
	Force bool `json:"force,omitempty" protobuf:"varint,3,opt,name=force"`

	// lostNode is the node of the pods of these members. Set it if the node is lost and you remove
	// the pods without its confirmation. The server records it in status.userActions, and it
	// changes nothing else.
	// +optional
	LostNode string `json:"lostNode,omitempty" protobuf:"bytes,4,opt,name=lostNode"`
}

// MemberReplacement is a pod that the controller removes because a user requested the replacement
// of its member.
type MemberReplacement struct {
	// ordinal is the ordinal of the member.
	Ordinal int32 `json:"ordinal" protobuf:"varint,1,opt,name=ordinal"`
	// podUID is the UID of the pod. The controller does not remove another pod of the member for
	// it.
	// +k8s:opaqueType
	PodUID types.UID `json:"podUID" protobuf:"bytes,2,opt,name=podUID,casttype=k8s.io/apimachinery/pkg/types.UID"`
}
