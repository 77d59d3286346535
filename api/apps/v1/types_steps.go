// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MostSteps is the maximum number of steps of an update, and MostStepConditions the maximum number
// of pod conditions of a step.
const (
	MostSteps          = 20
	MostStepConditions = 8
)

// RolloutFailurePolicy specifies what happens when an update fails.
// +enum
type RolloutFailurePolicy string

const (
	// WaitRolloutFailurePolicy stops a failed update until the cause is gone. It is the default,
	// and is not written into the set.
	WaitRolloutFailurePolicy RolloutFailurePolicy = "Wait"
	// RollbackRolloutFailurePolicy returns the members of a failed update to the current revision.
	// The template does not change, and the update is not tried again until the set gets another
	// template.
	RollbackRolloutFailurePolicy RolloutFailurePolicy = "Rollback"
)

// RolloutStepApproval specifies whether a step needs an approval before the update continues.
// +enum
type RolloutStepApproval string

const (
	// AutomaticRolloutStepApproval continues as soon as the step is done. It is the default, and is
	// not written into the set.
	AutomaticRolloutStepApproval RolloutStepApproval = "Automatic"
	// ManualRolloutStepApproval waits until a user promotes the step, after all other requirements
	// of the step are met.
	ManualRolloutStepApproval RolloutStepApproval = "Manual"
)

// RolloutStep specifies how many members an update changes, and what is required of them before the
// update continues.
type RolloutStep struct {
	// updated is the number of members at the update revision, as a number (1) or a percentage of
	// replicas (25%), rounded up. It must be at least 1 or 1%, at most 100%, and more than in the
	// step before.
	// +k8s:opaqueType
	Updated intstr.IntOrString `json:"updated" protobuf:"bytes,1,opt,name=updated"`
	// bakeSeconds is the number of seconds for which all members at the update revision must be
	// available without interruption. Defaults to 0. At most 604800 (one week).
	// +optional
	BakeSeconds int32 `json:"bakeSeconds,omitempty" protobuf:"varint,2,opt,name=bakeSeconds"`
	// podConditions are types of pod conditions that must be True for each member at the update
	// revision. Each type must have a domain, such as example.com/healthy. Another program sets the
	// conditions: a sidecar, a Job or a controller. At most 8.
	// +optional
	// +k8s:optional
	// +k8s:maxItems=8
	// +k8s:eachVal=+k8s:opaqueType
	// +listType=atomic
	PodConditions []string `json:"podConditions,omitempty" protobuf:"bytes,3,rep,name=podConditions"`
	// approval is Automatic (the default) or Manual. With Manual, the update also waits until a
	// user promotes the step.
	// +optional
	Approval RolloutStepApproval `json:"approval,omitempty" protobuf:"bytes,4,opt,name=approval,casttype=RolloutStepApproval"`
}

// RolloutAction is a user's decision about an update.
// +enum
type RolloutAction string

const (
	// PromoteRollout approves the steps of an update, up to and including one of them. It also
	// withdraws the abort of an update that cannot be rolled back, as PromoteAll does.
	PromoteRollout RolloutAction = "Promote"
	// PromoteAllRollout ends the steps of an update, which then continues to all members.
	PromoteAllRollout RolloutAction = "PromoteAll"
	// AbortRollout returns the members that an update has reached to the current revision.
	AbortRollout RolloutAction = "Abort"
)

// StatefulSetRollout promotes or aborts an update that is in progress. It is created at
// statefulsets/NAME/rollout, and applies only to the update to one revision.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type StatefulSetRollout struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`
	// metadata has the name and the namespace of the set. If it has a UID, the request is rejected
	// unless the set has that UID.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// revision is the revision of the update. It must be status.updateRevision of the set.
	Revision string `json:"revision" protobuf:"bytes,2,opt,name=revision"`
	// action is Promote, PromoteAll or Abort.
	Action RolloutAction `json:"action" protobuf:"bytes,3,opt,name=action,casttype=RolloutAction"`
	// step is the last step that is promoted, from 1. It is required with Promote, and rejected
	// with other actions.
	// +optional
	Step int32 `json:"step,omitempty" protobuf:"varint,4,opt,name=step"`
}
