// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VolumeClaimUpdatePolicyType specifies how a change of spec.volumeClaimTemplates affects existing
// claims.
// +enum
type VolumeClaimUpdatePolicyType string

const (
	// NewClaimsVolumeClaimUpdatePolicyType does not change existing claims. Claims that are created
	// later follow the templates.
	NewClaimsVolumeClaimUpdatePolicyType VolumeClaimUpdatePolicyType = "NewClaims"
	// InPlaceVolumeClaimUpdatePolicyType also changes the bound claims of members, as far as they
	// can change in place: their requested size, which only grows, their volumeAttributesClassName,
	// and their labels and annotations, which are added.
	InPlaceVolumeClaimUpdatePolicyType VolumeClaimUpdatePolicyType = "InPlace"
)

// StatefulSetVolumeClaimUpdate specifies how a change of the claim templates is applied.
type StatefulSetVolumeClaimUpdate struct {
	// policy is NewClaims or InPlace. With NewClaims, existing claims do not change. With InPlace,
	// existing claims grow, and get the volume attributes class, labels and annotations of their
	// template. At most updateStrategy.rollingUpdate.maxUnavailable members have their claims grown
	// at a time, the highest ordinals first. The partition does not hold back the growth of claims.
	// No claim is made smaller or deleted. With both policies, a member whose pod does not mount
	// the claims of the current templates, because a template was added or removed, is recreated as
	// for an update of the template: by the update strategy, from the partition on.
	// +required
	// +k8s:required
	Policy VolumeClaimUpdatePolicyType `json:"policy" protobuf:"bytes,1,opt,name=policy,casttype=VolumeClaimUpdatePolicyType"`
}

// IsInPlace reports whether existing claims follow their templates. It is false if u is nil.
func (u *StatefulSetVolumeClaimUpdate) IsInPlace() bool {
	return u != nil && u.Policy == InPlaceVolumeClaimUpdatePolicyType
}

// VolumeClaimStatus describes the state of the claims that were created from one template.
type VolumeClaimStatus struct {
	// name is the name of the claim template.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// claims is the number of desired members that have such a claim.
	Claims int32 `json:"claims" protobuf:"varint,2,opt,name=claims"`
	// upToDate is the number of these claims that match the template, or are larger.
	UpToDate int32 `json:"upToDate" protobuf:"varint,3,opt,name=upToDate"`
	// growing is the number of claims for which a change was requested that is not complete.
	// +optional
	Growing int32 `json:"growing,omitempty" protobuf:"varint,4,opt,name=growing"`
	// restartRequired is the number of growing claims for which only the resize of the file system
	// by the node is missing. Some volumes need the pod to be recreated for it.
	// +optional
	RestartRequired int32 `json:"restartRequired,omitempty" protobuf:"varint,5,opt,name=restartRequired"`
	// infeasible is the number of growing claims that cannot be changed as requested.
	// +optional
	Infeasible int32 `json:"infeasible,omitempty" protobuf:"varint,6,opt,name=infeasible"`
	// differing is the number of claims that differ from the template in fields that cannot be
	// changed in place.
	// +optional
	Differing int32 `json:"differing,omitempty" protobuf:"varint,7,opt,name=differing"`
	// message names a claim that is infeasible or differs, and describes the difference.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,8,opt,name=message"`
}

// MostReclaims is the maximum number of entries in status.reclaims.
const MostReclaims = 32

// Reclaim describes when the claims of removed members are deleted.
type Reclaim struct {
	// first is the lowest ordinal of the members.
	First int32 `json:"first" protobuf:"varint,1,opt,name=first"`
	// last is the highest ordinal of the members. Defaults to first.
	// +optional
	Last *int32 `json:"last,omitempty" protobuf:"varint,2,opt,name=last"`
	// dueTime is the time from which the claims are deleted.
	// +k8s:opaqueType
	DueTime metav1.Time `json:"dueTime" protobuf:"bytes,3,opt,name=dueTime"`
	// message says why claims that are due have not been deleted. Nothing waits for that, so no
	// condition reports it.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,4,opt,name=message"`
}

// End is the last ordinal of the members. It is first if last is not set.
func (r Reclaim) End() int {
	if r.Last == nil {
		return int(r.First)
	}
	return int(*r.Last)
}
