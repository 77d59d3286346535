// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSetStatus is what the controller last saw.
type StatefulSetStatus struct {
	// observedGeneration is the generation of the spec that this status speaks of.
	// A reader that sees less than metadata.generation waits.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// replicas is how many pods of the set exist.
	Replicas int32 `json:"replicas" protobuf:"varint,2,opt,name=replicas"`

	// readyReplicas is how many of them are ready.
	ReadyReplicas int32 `json:"readyReplicas,omitempty" protobuf:"varint,3,opt,name=readyReplicas"`

	// currentReplicas is how many of them run currentRevision.
	CurrentReplicas int32 `json:"currentReplicas,omitempty" protobuf:"varint,4,opt,name=currentReplicas"`

	// updatedReplicas is how many of them run updateRevision.
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty" protobuf:"varint,5,opt,name=updatedReplicas"`

	// currentRevision names the ControllerRevision that members have until an
	// update has reached them.
	CurrentRevision string `json:"currentRevision,omitempty" protobuf:"bytes,6,opt,name=currentRevision"`

	// updateRevision names the ControllerRevision of the present template. When an
	// update is complete it equals currentRevision.
	UpdateRevision string `json:"updateRevision,omitempty" protobuf:"bytes,7,opt,name=updateRevision"`

	// collisionCount counts how often the name of a new revision was taken by
	// another one; it is part of the hash that makes up the name.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty" protobuf:"varint,9,opt,name=collisionCount"`

	// conditions say in words where the set stands. Conditions of types that the
	// controller does not know are kept.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	Conditions []StatefulSetCondition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type" protobuf:"bytes,10,rep,name=conditions"`

	// availableReplicas is how many pods have been ready for minReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas" protobuf:"varint,11,opt,name=availableReplicas"`

	// lastProgressTime is when a counter, a revision or the observed generation last
	// changed. spec.progressDeadlineSeconds counts from it.
	// +optional
	// +k8s:opaqueType
	LastProgressTime *metav1.Time `json:"lastProgressTime,omitempty" protobuf:"bytes,1000,opt,name=lastProgressTime"`

	// rollout is what an update rests on that the controller has decided earlier. Absent
	// unless there is something of the kind.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty" protobuf:"bytes,1001,opt,name=rollout"`

	// volumeClaims tell of the claims of members, by template, if spec.volumeClaimUpdate is
	// set.
	// +optional
	// +listType=atomic
	VolumeClaims []VolumeClaimStatus `json:"volumeClaims,omitempty" protobuf:"bytes,1002,rep,name=volumeClaims"`

	// ordinals are the ordinals of the members that spec wants, if some are reserved.
	// +optional
	// +listType=atomic
	Ordinals []OrdinalRange `json:"ordinals,omitempty" protobuf:"bytes,1003,rep,name=ordinals"`

	// replacements are the pods that are to be removed because somebody has asked for their
	// members to be replaced. A set has at most 32 of them. Only a request to replace members
	// adds one, and the controller removes it when the pod is gone.
	// +optional
	// +listType=map
	// +listMapKey=ordinal
	Replacements []MemberReplacement `json:"replacements,omitempty" protobuf:"bytes,1004,rep,name=replacements"`

	// reclaims tell whose claims are deleted when, if
	// spec.persistentVolumeClaimRetentionPolicy.scaledAfterSeconds is set. At most 32 are told,
	// the first due ones. What is due stands on the claims; this only tells of it.
	// +optional
	// +listType=atomic
	Reclaims []Reclaim `json:"reclaims,omitempty" protobuf:"bytes,1041,rep,name=reclaims"`

	// objectTemplates say, by template, how far the objects that the set asks for are there.
	// +optional
	// +listType=atomic
	ObjectTemplates []ObjectTemplateStatus `json:"objectTemplates,omitempty" protobuf:"bytes,1040,rep,name=objectTemplates"`

	// evaluation is a mark of the controller, which is here while expressions of the set are evaluated
	// for the first time, and as long as their evaluation is stopped. Absent of a set without
	// expressions.
	// +optional
	Evaluation *StatefulSetEvaluation `json:"evaluation,omitempty" protobuf:"bytes,1042,opt,name=evaluation"`

	// userActions are the last promotion, abort, restart, replacement and release of an evaluation that a
	// user asked for, one entry of each sort. Absent unless a user has asked for one of them.
	// +optional
	// +listType=map
	// +listMapKey=action
	UserActions []UserAction `json:"userActions,omitempty" protobuf:"bytes,1050,rep,name=userActions"`
}

// Condition is the condition of a type, the zero value if there is none.
func (s *StatefulSetStatus) Condition(kind StatefulSetConditionType) StatefulSetCondition {
	for _, condition := range s.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return StatefulSetCondition{}
}

// RolloutStatus is what an update rests on that the controller has decided earlier. It is
// written before anything is done that follows from it, so that a controller that takes
// over goes on in the same way. Only the controller writes it.
type RolloutStatus struct {
	// revision is the update revision that this is about. It ends when the set gets
	// another one.
	Revision string `json:"revision" protobuf:"bytes,1,opt,name=revision"`
	// released are the members that the update has reached, while it is paused or goes by
	// steps: they come back at revision.
	// +optional
	// +listType=atomic
	Released []OrdinalRange `json:"released,omitempty" protobuf:"bytes,2,rep,name=released"`
	// superseded are the members that had neither this revision nor the current one when that
	// was noted first: nobody has the template that they had, so they come back at revision,
	// too, and the update cannot be rolled back.
	// +optional
	// +listType=atomic
	Superseded []OrdinalRange `json:"superseded,omitempty" protobuf:"bytes,3,rep,name=superseded"`
	// step is the step that the update is at, from 1, and one more than there are after the
	// last. It is 1 of an update without steps, and 0 if nothing is known of released and
	// superseded yet.
	// +optional
	Step int32 `json:"step,omitempty" protobuf:"varint,4,opt,name=step"`
	// bakeStartTime is since when all members that the step asks for are available without a
	// break.
	// +optional
	// +k8s:opaqueType
	BakeStartTime *metav1.Time `json:"bakeStartTime,omitempty" protobuf:"bytes,5,opt,name=bakeStartTime"`
	// progressTime is since when mostAvailable has not become more, although a member at revision
	// is not available, or has yet to bake. If it lies further back than
	// spec.progressDeadlineSeconds, the update has failed. Absent while the update waits for
	// something else than its members.
	// +optional
	// +k8s:opaqueType
	ProgressTime *metav1.Time `json:"progressTime,omitempty" protobuf:"bytes,6,opt,name=progressTime"`
	// mostAvailable is how many members at revision have been available at a time in this step.
	// +optional
	MostAvailable int32 `json:"mostAvailable,omitempty" protobuf:"varint,7,opt,name=mostAvailable"`
	// passed are the members all of whose pod conditions that the step asks for have been True:
	// if one becomes False, the update has failed at once, and not only after the bake.
	// +optional
	// +listType=atomic
	Passed []OrdinalRange `json:"passed,omitempty" protobuf:"bytes,8,rep,name=passed"`
	// promotedStep is the last step that somebody has promoted.
	// +optional
	PromotedStep int32 `json:"promotedStep,omitempty" protobuf:"varint,9,opt,name=promotedStep"`
	// promotedAll is true if somebody has ended the steps.
	// +optional
	PromotedAll bool `json:"promotedAll,omitempty" protobuf:"varint,10,opt,name=promotedAll"`
	// aborted is true if somebody has aborted the update.
	// +optional
	Aborted bool `json:"aborted,omitempty" protobuf:"varint,11,opt,name=aborted"`
	// rollback is true if the update has failed, and failurePolicy is Rollback.
	// +optional
	Rollback bool `json:"rollback,omitempty" protobuf:"varint,12,opt,name=rollback"`
	// failure says why the update is rolled back.
	// +optional
	Failure *RolloutFailure `json:"failure,omitempty" protobuf:"bytes,13,opt,name=failure"`
	// unblocking is the ordinal of the member that is being replaced although members
	// before it need not be available, because of
	// spec.updateStrategy.rollingUpdate.replaceUnreadyAfterSeconds. It stays until the
	// member is ready, and until then no other is replaced so.
	// +optional
	Unblocking *int32 `json:"unblocking,omitempty" protobuf:"varint,14,opt,name=unblocking"`
	// stepHashes are hashes of the steps that step and promotedStep count. If the steps change during
	// the update, the controller compares them with the new steps, and the update continues at the
	// first step that it has not done with the same content.
	// +optional
	// +listType=atomic
	StepHashes []string `json:"stepHashes,omitempty" protobuf:"bytes,15,rep,name=stepHashes"`
}

// RolloutFailure says why an update has failed.
type RolloutFailure struct {
	// reason is one CamelCase word for programs.
	Reason string `json:"reason" protobuf:"bytes,1,opt,name=reason"`
	// message is a sentence for people; it names the member and the cause.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`
	// time is when that was found.
	// +optional
	// +k8s:opaqueType
	Time metav1.Time `json:"time,omitempty" protobuf:"bytes,3,opt,name=time"`
}

// StatefulSetConditionType names a condition.
type StatefulSetConditionType string

const (
	// StatefulSetReady is True when every wanted member is available at the wanted
	// revision and nothing else remains to be done; Unknown until the controller
	// has looked at the set for the first time, and while the set is held.
	StatefulSetReady StatefulSetConditionType = "Ready"
	// StatefulSetAvailable is True when no more wanted members are unavailable than the
	// update strategy allows, and at least one serves, if any is wanted. It stays True
	// during an update that goes well.
	StatefulSetAvailable StatefulSetConditionType = "Available"
	// StatefulSetReconciling is True while the controller works on the set or
	// waits for something that it expects to happen.
	StatefulSetReconciling StatefulSetConditionType = "Reconciling"
	// StatefulSetStalled is True when somebody has to act: the host cluster refused
	// what the set needs, something is in its way, or nothing has moved for
	// spec.progressDeadlineSeconds. The controller tries on, with back-off.
	StatefulSetStalled StatefulSetConditionType = "Stalled"
	// StatefulSetProgressing is True while the set moves towards its spec and when it
	// is there, and False when nothing has moved for spec.progressDeadlineSeconds. As
	// in apps/v1, it is also False when an update of the type Recreate is complete.
	StatefulSetProgressing StatefulSetConditionType = "Progressing"
)

// StatefulSetCondition says one thing about a set.
type StatefulSetCondition struct {
	// type names the condition.
	Type StatefulSetConditionType `json:"type" protobuf:"bytes,1,opt,name=type,casttype=StatefulSetConditionType"`
	// status is True, False or Unknown.
	// +k8s:opaqueType
	Status corev1.ConditionStatus `json:"status" protobuf:"bytes,2,opt,name=status,casttype=k8s.io/api/core/v1.ConditionStatus"`
	// lastTransitionTime is when status last changed.
	// +optional
	// +k8s:opaqueType
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty" protobuf:"bytes,3,opt,name=lastTransitionTime"`
	// reason is one CamelCase word for programs.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`
	// message is a sentence for people; it names the member and the cause.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`
}
