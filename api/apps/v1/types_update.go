// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// StatefulSetUpdateStrategyType names a way to bring members to a changed
// template.
// +enum
type StatefulSetUpdateStrategyType string

const (
	// RollingUpdateStatefulSetStrategyType replaces members from the highest
	// ordinal down, each only when those replaced before are available again.
	RollingUpdateStatefulSetStrategyType StatefulSetUpdateStrategyType = "RollingUpdate"
	// OnDeleteStatefulSetStrategyType replaces no member by itself: a member gets
	// the new template when somebody deletes its pod.
	OnDeleteStatefulSetStrategyType StatefulSetUpdateStrategyType = "OnDelete"
	// RecreateStatefulSetStrategyType removes every member of an old revision,
	// waits until all are gone, and only then creates members of the new one, so
	// that two revisions never run at the same time.
	RecreateStatefulSetStrategyType StatefulSetUpdateStrategyType = "Recreate"
)

// StatefulSetUpdateStrategy says how members come to run a changed template.
type StatefulSetUpdateStrategy struct {
	// type is RollingUpdate, the default, OnDelete or Recreate.
	// +optional
	Type StatefulSetUpdateStrategyType `json:"type,omitempty" protobuf:"bytes,1,opt,name=type,casttype=StatefulSetUpdateStrategyType"`
	// rollingUpdate refines the type RollingUpdate and is refused with any other.
	// +optional
	// +k8s:optional
	RollingUpdate *RollingUpdateStatefulSetStrategy `json:"rollingUpdate,omitempty" protobuf:"bytes,2,opt,name=rollingUpdate"`
}

// RollingUpdateStatefulSetStrategy refines a rolling update.
type RollingUpdateStatefulSetStrategy struct {
	// partition holds back an update: the members whose ordinals are below
	// ordinals.start+partition keep the revision they have, and get it again when they
	// are recreated. Reserved ordinals count, too. Defaults to 0, which updates all members.
	// +optional
	Partition *int32 `json:"partition,omitempty" protobuf:"varint,1,opt,name=partition"`
	// maxUnavailable is how many members may be unavailable because of the update,
	// as a number (5) or as a share of replicas (10%), rounded down but never below
	// 1. Members that are unavailable for other reasons count too. Must not be 0.
	// Defaults to 1.
	// +optional
	// +k8s:opaqueType
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty" protobuf:"varint,2,opt,name=maxUnavailable"`

	// replaceUnreadyAfterSeconds lets an update reach members that keep it from going on:
	// a pod that has not been ready for so many seconds, and is not at the revision that
	// its member is to have, is replaced at that revision. In a set of the policy
	// OrderedReady that happens to one member at a time, whether or not those before it
	// are available; in a Parallel one, to members below the partition, as the others are
	// replaced anyhow. A pod that is ready is never removed for it. Without the field such
	// a pod stays until somebody deletes it, as in apps/v1; 300 is recommended.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	ReplaceUnreadyAfterSeconds *int32 `json:"replaceUnreadyAfterSeconds,omitempty" protobuf:"varint,1000,opt,name=replaceUnreadyAfterSeconds"`

	// paused stops an update: no member is recreated for it, out of turn neither. Members
	// are still created, at the revision that they had: a member that the update has
	// reached at the new one, any other at the one before. Scaling goes on, and so does the
	// growth of claims.
	// +optional
	Paused *bool `json:"paused,omitempty" protobuf:"varint,1001,opt,name=paused"`

	// steps take an update to a part of the members first, and go on only when all is well
	// with those: a step is done when so many members are at the new revision and available
	// for so long, and what else it asks for is there. After the last step the update goes
	// on to all members. Every update begins with the first step. Not together with a
	// partition above 0. At most 20.
	// +optional
	// +k8s:optional
	// +k8s:maxItems=20
	// +listType=atomic
	Steps []RolloutStep `json:"steps,omitempty" protobuf:"bytes,1002,rep,name=steps"`

	// failurePolicy says what becomes of an update that fails: because members that it has
	// reached do not become available within spec.progressDeadlineSeconds, or because a pod
	// condition that a step asks for is False. Wait, the default, takes it no further until
	// that has ceased; Rollback brings the members back to the revision before, and leaves
	// the template as it is. Not together with a partition above 0.
	// +optional
	FailurePolicy *RolloutFailurePolicy `json:"failurePolicy,omitempty" protobuf:"bytes,1003,opt,name=failurePolicy,casttype=RolloutFailurePolicy"`

	// order says which members are changed before which: when an update recreates them,
	// and when their claims grow (volumeClaimUpdate). It does not say which are changed at
	// all: partition counts ordinals from the first one, whatever their order. Without
	// it the highest ordinal comes first, as in apps/v1.
	// +optional
	// +k8s:optional
	Order *UpdateOrder `json:"order,omitempty" protobuf:"bytes,1004,opt,name=order"`

	// inPlace lets an update change the pod that a member has instead of replacing it, where
	// that is possible: the pod keeps its name, its UID, its node, its address and its volumes,
	// and only the containers whose image has changed are restarted. Until they are, the member
	// counts as unavailable, as one that is recreated does. Partition, order and paused hold
	// for it as for any other update. Without the field every member is recreated, as in
	// apps/v1.
	// +optional
	// +k8s:optional
	InPlace *InPlaceUpdate `json:"inPlace,omitempty" protobuf:"bytes,1005,opt,name=inPlace"`
}

// IsPaused reports whether no member is to be recreated for an update.
func (r *RollingUpdateStatefulSetStrategy) IsPaused() bool { return r.Paused != nil && *r.Paused }

// IsExtension reports whether only fields are set that apps/v1 does not have, and at
// least one of them: without them, there would be no such block.
func (r *RollingUpdateStatefulSetStrategy) IsExtension() bool {
	return r.Partition == nil && r.MaxUnavailable == nil && !reflect.DeepEqual(*r, RollingUpdateStatefulSetStrategy{})
}
