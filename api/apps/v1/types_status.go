// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSetStatus is the state of a set as the controller last observed it.
type StatefulSetStatus struct {
	// observedGeneration is the metadata.generation of the spec that this status describes. If it
	// is less than metadata.generation, the status is out of date.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// replicas is the number of pods of the set.
	Replicas int32 `json:"replicas" protobuf:"varint,2,opt,name=replicas"`

	// readyReplicas is the number of these pods that are ready.
	ReadyReplicas int32 `json:"readyReplicas,omitempty" protobuf:"varint,3,opt,name=readyReplicas"`

	// currentReplicas is the number of these pods that run currentRevision.
	CurrentReplicas int32 `json:"currentReplicas,omitempty" protobuf:"varint,4,opt,name=currentReplicas"`

	// updatedReplicas is the number of these pods that run updateRevision.
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty" protobuf:"varint,5,opt,name=updatedReplicas"`

	// currentRevision is the name of the ControllerRevision of members that the update has not
	// reached.
	CurrentRevision string `json:"currentRevision,omitempty" protobuf:"bytes,6,opt,name=currentRevision"`

	// updateRevision is the name of the ControllerRevision of the current template. When an update
	// is complete, it equals currentRevision.
	UpdateRevision string `json:"updateRevision,omitempty" protobuf:"bytes,7,opt,name=updateRevision"`

	// collisionCount is the number of times that another revision already had the name of a new
	// revision. It is part of the hash in the name.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty" protobuf:"varint,9,opt,name=collisionCount"`

	// conditions describe the state of the set. Conditions of types that the controller does not
	// know are kept.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	Conditions []StatefulSetCondition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,10,rep,name=conditions"`

	// availableReplicas is the number of pods that have been ready for minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas" protobuf:"varint,11,opt,name=availableReplicas"`

	// lastProgressTime is the last time that a counter, a revision or the observed generation
	// changed. spec.progressDeadlineSeconds counts from it.
	// +optional
	// +k8s:opaqueType
	LastProgressTime *metav1.Time `json:"lastProgressTime,omitempty" protobuf:"bytes,1000,opt,name=lastProgressTime"`

	// rollout is the state of the current update that the controller has recorded. It is absent if
	// there is nothing to record.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty" protobuf:"bytes,1001,opt,name=rollout"`

	// volumeClaims report the progress of the claims of members, for each claim template. They are
	// present only if spec.volumeClaimUpdate is set.
	// +optional
	// +listType=atomic
	VolumeClaims []VolumeClaimStatus `json:"volumeClaims,omitempty" protobuf:"bytes,1002,rep,name=volumeClaims"`

	// ordinals are the ordinals of the desired members. They are present only if ordinals are
	// reserved.
	// +optional
	// +listType=atomic
	Ordinals []OrdinalRange `json:"ordinals,omitempty" protobuf:"bytes,1003,rep,name=ordinals"`

	// replacements are the pods that the controller removes because a user requested the
	// replacement of their members. At most 32. Only a replacement request adds an entry, and the
	// controller removes it when the pod is gone.
	// +optional
	// +listType=map
	// +listMapKey=ordinal
	Replacements []MemberReplacement `json:"replacements,omitempty" protobuf:"bytes,1004,rep,name=replacements"`

	// reclaims list when claims of removed members are deleted, if
	// spec.persistentVolumeClaimRetentionPolicy.scaledAfterSeconds is set. They have at most 32
	// entries, the earliest ones. The annotations of the claims decide when they are deleted; this
	// list only reports it.
	// +optional
	// +listType=atomic
	Reclaims []Reclaim `json:"reclaims,omitempty" protobuf:"bytes,1041,rep,name=reclaims"`

	// objectTemplates report, for each template in spec.objectTemplates, how many of its objects
	// exist and are up to date.
	// +optional
	// +listType=atomic
	ObjectTemplates []ObjectTemplateStatus `json:"objectTemplates,omitempty" protobuf:"bytes,1040,rep,name=objectTemplates"`

	// evaluation is a mark that the controller sets while it evaluates expressions of the set for
	// the first time, and while their evaluation is stopped. It is absent if the set has no
	// expressions.
	// +optional
	Evaluation *StatefulSetEvaluation `json:"evaluation,omitempty" protobuf:"bytes,1042,opt,name=evaluation"`

	// userActions are the last promotion, abort, restart, replacement and release of an evaluation
	// that a user requested, one entry for each action. Absent if no user has requested one.
	// +optional
	// +listType=map
	// +listMapKey=action
	UserActions []UserAction `json:"userActions,omitempty" protobuf:"bytes,1050,rep,name=userActions"`
}

// Condition returns the condition of a type, or the zero value if there is none.
func (s *StatefulSetStatus) Condition(kind StatefulSetConditionType) StatefulSetCondition {
	for _, condition := range s.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return StatefulSetCondition{}
}

// RolloutStatus is the state of the current update that the controller has recorded. The controller
// writes it before it acts on it, so that a controller that takes over continues in the same way.
// Only the controller and requests to statefulsets/NAME/rollout write it.
type RolloutStatus struct {
	// revision is the update revision that this status is for. When the set gets another update
	// revision, the status is discarded.
	Revision string `json:"revision" protobuf:"bytes,1,opt,name=revision"`
	// released are the members that the update has reached, if it is paused or has steps. Their
	// pods are recreated at revision.
	// +optional
	// +listType=atomic
	Released []OrdinalRange `json:"released,omitempty" protobuf:"bytes,2,rep,name=released"`
	// superseded are the members that had neither revision nor the current revision when the
	// controller first recorded this. Their template is not recorded anywhere, so their pods are
	// also recreated at revision, and the update cannot be rolled back.
	// +optional
	// +listType=atomic
	Superseded []OrdinalRange `json:"superseded,omitempty" protobuf:"bytes,3,rep,name=superseded"`
	// step is the current step of the update, from 1. After the last step it is one more than the
	// number of steps. It is 1 for an update without steps, and 0 if released and superseded are
	// not recorded yet.
	// +optional
	Step int32 `json:"step,omitempty" protobuf:"varint,4,opt,name=step"`
	// bakeStartTime is the time since which all members that the step requires have been available
	// without interruption.
	// +optional
	// +k8s:opaqueType
	BakeStartTime *metav1.Time `json:"bakeStartTime,omitempty" protobuf:"bytes,5,opt,name=bakeStartTime"`
	// progressTime is the time since which mostAvailable has not increased, although a member at
	// revision is not available or its bake is not complete. If it is longer ago than
	// spec.progressDeadlineSeconds (plus bakeSeconds, once the bake has begun), the update has
	// failed. Absent while the update waits for something other than its members.
	// +optional
	// +k8s:opaqueType
	ProgressTime *metav1.Time `json:"progressTime,omitempty" protobuf:"bytes,6,opt,name=progressTime"`
	// mostAvailable is the highest number of members at revision that were available at the same
	// time in this step.
	// +optional
	MostAvailable int32 `json:"mostAvailable,omitempty" protobuf:"varint,7,opt,name=mostAvailable"`
	// passed are the members for which all pod conditions that the step requires have been True. If
	// one of these conditions becomes False, the update fails at once, and not only after the bake.
	// +optional
	// +listType=atomic
	Passed []OrdinalRange `json:"passed,omitempty" protobuf:"bytes,8,rep,name=passed"`
	// promotedStep is the last step that a user has promoted.
	// +optional
	PromotedStep int32 `json:"promotedStep,omitempty" protobuf:"varint,9,opt,name=promotedStep"`
	// promotedAll is true if a user has ended the steps.
	// +optional
	PromotedAll bool `json:"promotedAll,omitempty" protobuf:"varint,10,opt,name=promotedAll"`
	// aborted is true if a user has aborted the update.
	// +optional
	Aborted bool `json:"aborted,omitempty" protobuf:"varint,11,opt,name=aborted"`
	// rollback is true if the update has failed and failurePolicy is Rollback.
	// +optional
	Rollback bool `json:"rollback,omitempty" protobuf:"varint,12,opt,name=rollback"`
	// failure is the reason why the update is rolled back.
	// +optional
	Failure *RolloutFailure `json:"failure,omitempty" protobuf:"bytes,13,opt,name=failure"`
	// unblocking is the ordinal of the member that is being replaced although members before it may
	// be unavailable, because of spec.updateStrategy.rollingUpdate.replaceUnreadyAfterSeconds. It
	// stays until the member is ready. Until then, no other member is replaced in this way.
	// +optional
	Unblocking *int32 `json:"unblocking,omitempty" protobuf:"varint,14,opt,name=unblocking"`
	// stepHashes are hashes of the steps that step and promotedStep refer to. If the steps change
	// during the update, the controller compares the new steps with them. The update continues at
	// the first step that it has not done with the same content.
	// +optional
	// +listType=atomic
	StepHashes []string `json:"stepHashes,omitempty" protobuf:"bytes,15,rep,name=stepHashes"`
}

// RolloutFailure describes why an update failed.
type RolloutFailure struct {
	// reason is one CamelCase word, for programs.
	Reason string `json:"reason" protobuf:"bytes,1,opt,name=reason"`
	// message is a sentence for people. It names the member and the cause.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`
	// time is when the controller detected the failure.
	// +optional
	// +k8s:opaqueType
	Time metav1.Time `json:"time,omitempty" protobuf:"bytes,3,opt,name=time"`
}

// StatefulSetConditionType is the type of a condition.
type StatefulSetConditionType string

const (
	// StatefulSetReady is True when all desired members are available at their target revision and
	// nothing is left to do. It is Unknown until the controller has synced the set for the first
	// time, and while the set is suspended.
	StatefulSetReady StatefulSetConditionType = "Ready"
	// StatefulSetAvailable is True when no more desired members are unavailable than the update
	// strategy allows, and at least one member serves, if any is desired. It stays True during an
	// update that goes well.
	StatefulSetAvailable StatefulSetConditionType = "Available"
	// StatefulSetReconciling is True while the controller works on the set or waits for something
	// that it expects to happen.
	StatefulSetReconciling StatefulSetConditionType = "Reconciling"
	// StatefulSetStalled is True when a person must act: the host cluster refused what the set
	// needs, something blocks the set, or there was no progress for spec.progressDeadlineSeconds.
	// The controller continues to try, with back-off.
	StatefulSetStalled StatefulSetConditionType = "Stalled"
	// StatefulSetProgressing is True while the set moves towards its spec and when it matches the
	// spec. It is False when there was no progress for spec.progressDeadlineSeconds. As in apps/v1,
	// it is also False when an update of the type Recreate is complete.
	StatefulSetProgressing StatefulSetConditionType = "Progressing"
)

// StatefulSetCondition describes one aspect of the state of a set.
type StatefulSetCondition struct {
	// type is the type of the condition.
	Type StatefulSetConditionType `json:"type" protobuf:"bytes,1,opt,name=type,casttype=StatefulSetConditionType"`
	// status is True, False or Unknown.
	// +k8s:opaqueType
	Status corev1.ConditionStatus `json:"status" protobuf:"bytes,2,opt,name=status,casttype=k8s.io/api/core/v1.ConditionStatus"`
	// lastTransitionTime is the last time that status changed.
	// +optional
	// +k8s:opaqueType
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty" protobuf:"bytes,3,opt,name=lastTransitionTime"`
	// reason is one CamelCase word, for programs.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`
	// message is a sentence for people. It names the member and the cause.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`
}
