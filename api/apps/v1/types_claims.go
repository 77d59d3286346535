// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VolumeClaimUpdatePolicyType says what a change of spec.volumeClaimTemplates does to the
// claims that exist.
// +enum
type VolumeClaimUpdatePolicyType string

const (
	// NewClaimsVolumeClaimUpdatePolicyType leaves claims that exist as they are. Those
	// that are created later follow the templates.
	NewClaimsVolumeClaimUpdatePolicyType VolumeClaimUpdatePolicyType = "NewClaims"
	// InPlaceVolumeClaimUpdatePolicyType also changes, of the bound claims of members,
	// what can be changed in place: the requested size, which only grows, the
	// volumeAttributesClassName, and labels and annotations, which are added.
	InPlaceVolumeClaimUpdatePolicyType VolumeClaimUpdatePolicyType = "InPlace"
)

// StatefulSetVolumeClaimUpdate says how members come to have changed claims.
type StatefulSetVolumeClaimUpdate struct {
	// policy is NewClaims or InPlace. With either, a member whose pod does not mount the
	// claims that the templates describe, because one was added or removed, is recreated
	// as for an update of the template: by the update strategy, from the partition on.
	// With InPlace, no more than updateStrategy.rollingUpdate.maxUnavailable members have
	// their claims grown at a time, those of the highest ordinals first. The partition does
	// not hold back the growth of claims. No claim is made smaller, and none is deleted.
	// +required
	// +k8s:required
	Policy VolumeClaimUpdatePolicyType `json:"policy" protobuf:"bytes,1,opt,name=policy,casttype=VolumeClaimUpdatePolicyType"`
}

// IsInPlace reports whether claims that exist follow their templates. Without any, they do not.
func (u *StatefulSetVolumeClaimUpdate) IsInPlace() bool {
	return u != nil && u.Policy == InPlaceVolumeClaimUpdatePolicyType
}

// VolumeClaimStatus tells of the claims that were made from one template.
type VolumeClaimStatus struct {
	// name is that of the template.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// claims is how many wanted members have such a claim.
	Claims int32 `json:"claims" protobuf:"varint,2,opt,name=claims"`
	// upToDate is how many of them are as the template describes, or larger.
	UpToDate int32 `json:"upToDate" protobuf:"varint,3,opt,name=upToDate"`
	// growing is how many have been told to change, and have yet to.
	// +optional
	Growing int32 `json:"growing,omitempty" protobuf:"varint,4,opt,name=growing"`
	// restartRequired is how many of the growing lack only what the node does: resize the
	// file system. Some volumes need the pod to be recreated for it.
	// +optional
	RestartRequired int32 `json:"restartRequired,omitempty" protobuf:"varint,5,opt,name=restartRequired"`
	// infeasible is how many of the growing cannot become as they were told to.
	// +optional
	Infeasible int32 `json:"infeasible,omitempty" protobuf:"varint,6,opt,name=infeasible"`
	// differing is how many differ from the template in what is not changed in place.
	// +optional
	Differing int32 `json:"differing,omitempty" protobuf:"varint,7,opt,name=differing"`
	// message names a claim that is infeasible or differs, and says how.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,8,opt,name=message"`
}

// MostReclaims is how many entries status.reclaims has at most.
const MostReclaims = 32

// Reclaim says from when on the claims of removed members are deleted.
type Reclaim struct {
	// first is the lowest ordinal of the members.
	First int32 `json:"first" protobuf:"varint,1,opt,name=first"`
	// last is the highest ordinal of the members. Absent, it is first.
	// +optional
	Last *int32 `json:"last,omitempty" protobuf:"varint,2,opt,name=last"`
	// dueTime is when they are deleted.
	// +k8s:opaqueType
	DueTime metav1.Time `json:"dueTime" protobuf:"bytes,3,opt,name=dueTime"`
	// message says why claims that are due have not been deleted. Nothing waits for that, so that no
	// condition tells of it.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,4,opt,name=message"`
}

// End is the last ordinal of the members, which is first if last is not set.
func (r Reclaim) End() int {
	if r.Last == nil {
		return int(r.First)
	}
	return int(*r.Last)
}
