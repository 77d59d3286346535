// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MostSteps is how many steps an update may have, and MostStepConditions how many pod
// conditions a step may ask for.
const (
	MostSteps          = 20
	MostStepConditions = 8
)

// RolloutFailurePolicy says what becomes of an update that fails.
// +enum
type RolloutFailurePolicy string

const (
	// WaitRolloutFailurePolicy takes a failed update no further until the cause has ceased.
	// It is the default, and is not filled in.
	WaitRolloutFailurePolicy RolloutFailurePolicy = "Wait"
	// RollbackRolloutFailurePolicy brings the members of a failed update back to the current
	// revision. The template stays as it is, and the update is not tried again until the set
	// has another one.
	RollbackRolloutFailurePolicy RolloutFailurePolicy = "Rollback"
)

// RolloutStepApproval says who lets an update go on from a step.
// +enum
type RolloutStepApproval string

const (
	// AutomaticRolloutStepApproval goes on as soon as the step is done. It is the default, and
	// is not filled in.
	AutomaticRolloutStepApproval RolloutStepApproval = "Automatic"
	// ManualRolloutStepApproval waits, after all else that the step asks for, for somebody to
	// promote it.
	ManualRolloutStepApproval RolloutStepApproval = "Manual"
)

// RolloutStep is a part of the members that an update is taken to, and what has to be so
// before it goes on.
type RolloutStep struct {
	// updated is how many members are to be at the new revision, as a number (1) or as a share
	// of replicas (25%), rounded up. More than in the step before.
	// +k8s:opaqueType
	Updated intstr.IntOrString `json:"updated" protobuf:"bytes,1,opt,name=updated"`
	// bakeSeconds is for how long the members at the new revision have to be available without
	// a break. Defaults to 0; at most 604800, a week.
	// +optional
	BakeSeconds int32 `json:"bakeSeconds,omitempty" protobuf:"varint,2,opt,name=bakeSeconds"`
	// podConditions are types of pod conditions, of domains of their own, that have to be True
	// for each member at the new revision. Someone else writes them: a sidecar, a Job, a
	// controller. At most 8.
	// +optional
	// +k8s:optional
	// +k8s:maxItems=8
	// +k8s:eachVal=+k8s:opaqueType
	// +listType=atomic
	PodConditions []string `json:"podConditions,omitempty" protobuf:"bytes,3,rep,name=podConditions"`
	// approval is Automatic, the default, or Manual: the update goes on when somebody has
	// promoted the step, too.
	// +optional
	Approval RolloutStepApproval `json:"approval,omitempty" protobuf:"bytes,4,opt,name=approval,casttype=RolloutStepApproval"`
}

// RolloutAction is what somebody decides about an update.
// +enum
type RolloutAction string

const (
	// PromoteRollout approves the steps of an update up to a certain one. As PromoteAll does, it
	// takes back an abortion of an update that could not be rolled back.
	PromoteRollout RolloutAction = "Promote"
	// PromoteAllRollout ends the steps of an update: it goes on to all members.
	PromoteAllRollout RolloutAction = "PromoteAll"
	// AbortRollout brings the members that an update has reached back to the current revision.
	AbortRollout RolloutAction = "Abort"
)

// StatefulSetRollout is a decision about an update that is under way. It is created at
// statefulsets/NAME/rollout, and holds for the update to one revision only.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type StatefulSetRollout struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`
	// metadata has the name and the namespace of the set. With a UID, the decision is about
	// the set of that UID only.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// revision is the update's, status.updateRevision of the set.
	Revision string `json:"revision" protobuf:"bytes,2,opt,name=revision"`
	// action is Promote, PromoteAll or Abort.
	Action RolloutAction `json:"action" protobuf:"bytes,3,opt,name=action,casttype=RolloutAction"`
	// step is the last of the steps that are promoted, from 1. With Promote only, which needs it.
	// +optional
	Step int32 `json:"step,omitempty" protobuf:"varint,4,opt,name=step"`
}
