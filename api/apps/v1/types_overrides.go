// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MemberOverride overrides parts of the pod template and of the claim templates for selected
// members. It is not part of a revision: it applies at every revision of a member, and undoing an
// update does not change it.
type MemberOverride struct {
	// name identifies the override in the set. It must be a DNS label. A new name recreates no
	// member.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// ordinals are the members that the override applies to. They may include ordinals that are not
	// members now. At most 100 ranges. A member can have only one override.
	// +required
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=100
	Ordinals []OrdinalRange `json:"ordinals" protobuf:"bytes,2,rep,name=ordinals"`

	// labels are added to those of the template. A label with the same key is replaced. Keys that
	// spec.selector uses, keys that identify a member, and keys of apps.statefulset.dev are
	// rejected.
	// +optional
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,3,rep,name=labels"`
	// annotations are added to those of the template. An annotation with the same key is replaced.
	// Keys of apps.statefulset.dev are rejected.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,4,rep,name=annotations"`
	// nodeSelector is added to that of the template. A value with the same key is replaced.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty" protobuf:"bytes,5,rep,name=nodeSelector"`
	// tolerations are added to those of the template.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:eachVal=+k8s:opaqueType
	Tolerations []corev1.Toleration `json:"tolerations,omitempty" protobuf:"bytes,6,rep,name=tolerations"`

	// containers override containers and init containers of the template, by name. If a revision
	// does not have the container, its override is ignored there.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	Containers []ContainerOverride `json:"containers,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,7,rep,name=containers"`
	// volumeClaims override claim templates, by name. They recreate no member. They apply to claims
	// that are created later, and to existing claims as far as volumeClaimUpdate allows.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	VolumeClaims []VolumeClaimOverride `json:"volumeClaims,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,8,rep,name=volumeClaims"`

	// values replace those of identity.values for these members. A member whose values change is
	// recreated.
	// +optional
	Values map[string]string `json:"values,omitempty" protobuf:"bytes,9,rep,name=values"`
}

// ContainerOverride overrides parts of a container of the template.
type ContainerOverride struct {
	// name is the name of a container or an init container of the template.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// image replaces the image of the template. It stays when the image of the template changes.
	// +optional
	Image string `json:"image,omitempty" protobuf:"bytes,2,opt,name=image"`
	// resources are added to those of the template. Requests and limits of the same resource are
	// replaced. claims cannot be set.
	// +optional
	// +k8s:opaqueType
	Resources *corev1.ResourceRequirements `json:"resources,omitempty" protobuf:"bytes,3,opt,name=resources"`
	// env overrides environment variables. A variable of the same name is replaced at its position.
	// Other variables are added after those of the template.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +k8s:eachVal=+k8s:opaqueType
	Env []corev1.EnvVar `json:"env,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,4,rep,name=env"`
}

// VolumeClaimOverride overrides parts of a claim template.
type VolumeClaimOverride struct {
	// name is the name of a claim template.
	// +required
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// storage is the requested size of the claim. It must be greater than zero. Existing claims
	// only grow, and only with volumeClaimUpdate.policy InPlace.
	// +optional
	// +k8s:opaqueType
	Storage *resource.Quantity `json:"storage,omitempty" protobuf:"bytes,2,opt,name=storage"`
	// storageClassName is the storage class of claims that are created later. Existing claims keep
	// theirs.
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty" protobuf:"bytes,3,opt,name=storageClassName"`
	// volumeAttributesClassName is the volume attributes class of claims that are created later.
	// With volumeClaimUpdate.policy InPlace, existing claims get it, too.
	// +optional
	VolumeAttributesClassName *string `json:"volumeAttributesClassName,omitempty" protobuf:"bytes,4,opt,name=volumeAttributesClassName"`
}
