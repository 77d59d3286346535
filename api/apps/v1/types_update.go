// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// StatefulSetUpdateStrategyType names a method to update members to a changed template.
// +enum
type StatefulSetUpdateStrategyType string

const (
	// RollingUpdateStatefulSetStrategyType replaces members one after another, the highest ordinal
	// first. It replaces a member only when the members that it replaced before are available
	// again.
	RollingUpdateStatefulSetStrategyType StatefulSetUpdateStrategyType = "RollingUpdate"
	// OnDeleteStatefulSetStrategyType replaces no member. A member gets the new template when a
	// user deletes its pod.
	OnDeleteStatefulSetStrategyType StatefulSetUpdateStrategyType = "OnDelete"
	// RecreateStatefulSetStrategyType removes all outdated pods, waits until they are gone, and
	// only then creates pods at the update revision. So two revisions never run at the same time.
	RecreateStatefulSetStrategyType StatefulSetUpdateStrategyType = "Recreate"
)

// StatefulSetUpdateStrategy specifies how members are updated when the template changes.
type StatefulSetUpdateStrategy struct {
	// type is RollingUpdate (the default), OnDelete or Recreate.
	// +optional
	Type StatefulSetUpdateStrategyType `json:"type,omitempty" protobuf:"bytes,1,opt,name=type,casttype=StatefulSetUpdateStrategyType"`
	// rollingUpdate has the parameters of the type RollingUpdate. It is rejected with any other
	// type.
	// +optional
	// +k8s:optional
	RollingUpdate *RollingUpdateStatefulSetStrategy `json:"rollingUpdate,omitempty" protobuf:"bytes,2,opt,name=rollingUpdate"`
}

// RollingUpdateStatefulSetStrategy has the parameters of a rolling update.
type RollingUpdateStatefulSetStrategy struct {
	// partition excludes the first members from updates. Members whose ordinals are below
	// ordinals.start+partition keep their revision, and get it again when their pods are recreated.
	// Reserved ordinals count, too. Defaults to 0, which updates all members.
	// +optional
	Partition *int32 `json:"partition,omitempty" protobuf:"varint,1,opt,name=partition"`
	// maxUnavailable is the number of members that may be unavailable because of the update, as a
	// number (5) or a percentage of replicas (10%). The result is rounded down, but is at least 1.
	// Members that are unavailable for other reasons count, too. Must not be 0, or more than 100%.
	// Defaults to 1.
	// +optional
	// +k8s:opaqueType
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty" protobuf:"varint,2,opt,name=maxUnavailable"`

	// replaceUnreadyAfterSeconds lets an update replace members that block it. If a pod has not
	// been ready for that many seconds and is outdated, the controller replaces it at the target
	// revision of its member. An OrderedReady set replaces one such member at a time, even if
	// members before it are not available. A Parallel set replaces such members below the
	// partition; the others are replaced in any case. The field never causes the removal of a ready
	// pod. If it is not set, such a pod stays until a user deletes it, as in apps/v1. The
	// recommended value is 300.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ReplaceUnreadyAfterSeconds *int32 `json:"replaceUnreadyAfterSeconds,omitempty" protobuf:"varint,1000,opt,name=replaceUnreadyAfterSeconds"`

	// paused stops an update: no member is recreated for it, not even out of order. The controller
	// still recreates lost pods: at the update revision if the update has reached the member, and
	// at the previous revision otherwise. Scaling and the growth of claims continue. Defaults to
	// false.
	// +optional
	Paused *bool `json:"paused,omitempty" protobuf:"varint,1001,opt,name=paused"`

	// steps divide an update into parts. Each step updates a number of members, and the update
	// continues only when the step is done: that many members are at the update revision, have been
	// available for bakeSeconds, and meet the other requirements of the step. After the last step,
	// all other members are updated. Every update begins with the first step. The field is rejected
	// together with a partition above 0. At most 20 steps.
	// +optional
	// +k8s:optional
	// +k8s:maxItems=20
	// +listType=atomic
	Steps []RolloutStep `json:"steps,omitempty" protobuf:"bytes,1002,rep,name=steps"`

	// failurePolicy specifies what happens when an update fails. An update fails if members that it
	// has reached do not become available within spec.progressDeadlineSeconds, or if a pod
	// condition that a step requires is False. Wait (the default) stops the update until the cause
	// is gone. Rollback returns the members to the current revision, and does not change the
	// template. It is rejected together with a partition above 0.
	// +optional
	FailurePolicy *RolloutFailurePolicy `json:"failurePolicy,omitempty" protobuf:"bytes,1003,opt,name=failurePolicy,casttype=RolloutFailurePolicy"`

	// order specifies the order in which an update changes members, and in which their claims grow
	// (volumeClaimUpdate). It does not specify which members are updated: partition counts ordinals
	// from the first one in any order. If it is not set, the highest ordinal comes first, as in
	// apps/v1.
	// +optional
	// +k8s:optional
	Order *UpdateOrder `json:"order,omitempty" protobuf:"bytes,1004,opt,name=order"`

	// inPlace makes an update change the existing pod of a member instead of replacing it, where
	// that is possible. The pod keeps its name, UID, node, address and volumes, and only the
	// containers whose image or resources have changed are restarted or resized. Until that is
	// complete, the member counts as unavailable. partition, order and paused apply as in any other
	// update. If it is not set, every member is recreated, as in apps/v1.
	// +optional
	// +k8s:optional
	InPlace *InPlaceUpdate `json:"inPlace,omitempty" protobuf:"bytes,1005,opt,name=inPlace"`
}

// IsPaused reports whether updates are paused, so that no member is recreated for one.
func (r *RollingUpdateStatefulSetStrategy) IsPaused() bool { return r.Paused != nil && *r.Paused }

// IsExtension reports whether only fields are set that apps/v1 does not have, and at least one of
// them. Without these fields, the set would not have the block.
func (r *RollingUpdateStatefulSetStrategy) IsExtension() bool {
	return r.Partition == nil && r.MaxUnavailable == nil && !reflect.DeepEqual(*r, RollingUpdateStatefulSetStrategy{})
}
