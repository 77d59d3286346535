// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MostReplacements is how many members of a set may be on their way to be replaced at a time.
const MostReplacements = 32

// StatefulSetReplacement asks for members to be replaced: their pods are removed, and they
// return with their claims at the revision that they are to have. It is created at
// statefulsets/NAME/replace, and the set keeps it in status.replacements until those pods are
// gone. No more members are unavailable for it than an update may make so.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type StatefulSetReplacement struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`
	// metadata has the name and the namespace of the set. With a UID, the request is for the
	// set of that UID only.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// ordinals are those of the members, each of which has to have a pod. At most 32.
	// +listType=atomic
	Ordinals []OrdinalRange `json:"ordinals" protobuf:"bytes,2,rep,name=ordinals"`

	// force asks for it although other members are unavailable. A pod that is ready still
	// waits until no more members are unavailable than may be.
	// +optional
	Force bool `json:"force,omitempty" protobuf:"varint,3,opt,name=force"`

	// lostNode is the node of the pods of these members, if the user says that it is lost and removes the
	// pods without its confirmation. It is recorded in status.userActions, and changes nothing else.
	// +optional
	LostNode string `json:"lostNode,omitempty" protobuf:"bytes,4,opt,name=lostNode"`
}

// MemberReplacement names a pod that is to be removed because somebody has asked for its
// member to be replaced.
type MemberReplacement struct {
	// ordinal is that of the member.
	Ordinal int32 `json:"ordinal" protobuf:"varint,1,opt,name=ordinal"`
	// podUID is the UID of its pod. Another pod of the member is not removed for it.
	// +k8s:opaqueType
	PodUID types.UID `json:"podUID" protobuf:"bytes,2,opt,name=podUID,casttype=k8s.io/apimachinery/pkg/types.UID"`
}
