// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MemberOverride says in what some members are otherwise than the template describes. It is
// no part of a revision: it holds at every revision that a member gets, and undoing an update
// leaves it.
type MemberOverride struct {
	// name tells the override from others of the set, as a DNS label. To change it recreates
	// nobody.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// ordinals are the members that it is for, whether or not the set wants them now. At
	// most 100 ranges; an ordinal is in one range of one override at most.
	// +required
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=100
	Ordinals []OrdinalRange `json:"ordinals" protobuf:"bytes,2,rep,name=ordinals"`

	// labels are added to those of the template, or take the place of those of the same key.
	// A key that spec.selector has, or that says which member a pod is, is refused.
	// +optional
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,3,rep,name=labels"`
	// annotations are added to those of the template, or take the place of those of the
	// same key.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,4,rep,name=annotations"`
	// nodeSelector is added to that of the template, or takes the place of what it says of
	// the same key.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty" protobuf:"bytes,5,rep,name=nodeSelector"`
	// tolerations are added to those of the template.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:eachVal=+k8s:opaqueType
	Tolerations []corev1.Toleration `json:"tolerations,omitempty" protobuf:"bytes,6,rep,name=tolerations"`

	// containers are those of the template, init containers too, that are otherwise. One that
	// a revision does not have is left out there.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	Containers []ContainerOverride `json:"containers,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,7,rep,name=containers"`
	// volumeClaims are the claim templates that are otherwise. No member is recreated for
	// them: they hold for claims that are created, and, as far as volumeClaimUpdate lets
	// claims that exist follow their templates, for these.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	VolumeClaims []VolumeClaimOverride `json:"volumeClaims,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,8,rep,name=volumeClaims"`

	// values take the place of those of identity.values. A member whose values change is
	// recreated.
	// +optional
	Values map[string]string `json:"values,omitempty" protobuf:"bytes,9,rep,name=values"`
}

// ContainerOverride says in what a container is otherwise than the template describes.
type ContainerOverride struct {
	// name is that of a container of the template.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// image takes the place of that of the template.
	// +optional
	Image string `json:"image,omitempty" protobuf:"bytes,2,opt,name=image"`
	// resources are added to those of the template, or take the place of those of the same
	// name. claims cannot be set.
	// +optional
	// +k8s:opaqueType
	Resources *corev1.ResourceRequirements `json:"resources,omitempty" protobuf:"bytes,3,opt,name=resources"`
	// env takes the place of variables of the same name where they stand; the others come
	// after those of the template.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:eachVal=+k8s:opaqueType
	Env []corev1.EnvVar `json:"env,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,4,rep,name=env"`
}

// VolumeClaimOverride says in what a claim is otherwise than its template describes.
type VolumeClaimOverride struct {
	// name is that of a claim template.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// storage is the size that the claim requests. A claim that exists only grows, and only
	// with volumeClaimUpdate.policy InPlace.
	// +optional
	// +k8s:opaqueType
	Storage *resource.Quantity `json:"storage,omitempty" protobuf:"bytes,2,opt,name=storage"`
	// storageClassName is that of claims that are created; claims that exist keep theirs.
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty" protobuf:"bytes,3,opt,name=storageClassName"`
	// volumeAttributesClassName is that of claims that are created, and, with
	// volumeClaimUpdate.policy InPlace, of those that exist.
	// +optional
	VolumeAttributesClassName *string `json:"volumeAttributesClassName,omitempty" protobuf:"bytes,4,opt,name=volumeAttributesClassName"`
}
