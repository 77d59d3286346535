// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSetPlan says what the controller does for a set, in which order and why,
// and what keeps it from doing more. It is computed when it is asked for, and never
// stored.
//
// GET statefulsets/NAME/plan gives the one round that the controller is in. POST
// with a StatefulSet, or a Scale, of that name gives all rounds that it would lead
// to, played against a host that does what it is asked: pods start and become
// available, terminating pods go. Nothing is changed by either.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type StatefulSetPlan struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`
	// metadata has the name and the namespace of the set, and its UID, resource
	// version and generation if it exists.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// rounds are what the controller does each time that it looks at the set, in
	// their order. It looks again when what a round has asked for has happened. In the
	// plan of a proposed set, a round in which nothing is done and nothing else is
	// waited for is left out.
	// +listType=atomic
	Rounds []PlanRound `json:"rounds" protobuf:"bytes,2,rep,name=rounds"`

	// outcome says how it ends.
	Outcome PlanOutcome `json:"outcome" protobuf:"bytes,3,opt,name=outcome,casttype=PlanOutcome"`
	// reason is one CamelCase word for the outcome, as in the set's conditions.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`
	// message is a sentence for people that says the same.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`

	// truncated is true if rounds or actions are missing, because there are more than
	// a plan lists.
	// +optional
	Truncated bool `json:"truncated,omitempty" protobuf:"varint,6,opt,name=truncated"`

	// status is the status of the set at the beginning of the last round.
	// +optional
	Status StatefulSetStatus `json:"status,omitempty" protobuf:"bytes,7,opt,name=status"`
}

// PlanOutcome says how a plan ends.
// +enum
type PlanOutcome string

const (
	// PlanConverged says that the set is as its spec wants it, and nothing is left to do.
	PlanConverged PlanOutcome = "Converged"
	// PlanInProgress says that the round does, or waits for, what leads on. Only a plan that
	// was not played to its end has this outcome.
	PlanInProgress PlanOutcome = "InProgress"
	// PlanStuck says that nothing leads on unless somebody acts; reason and message say what
	// is in the way.
	PlanStuck PlanOutcome = "Stuck"
	// PlanHeld says that the set is held by its annotation.
	PlanHeld PlanOutcome = "Held"
)

// PlanRound is what the controller does when it looks at a set.
type PlanRound struct {
	// steps are the actions by the moment at which each begins if the host refuses
	// nothing. One that is refused holds up those of its own member in later steps;
	// one that records or raises a revision holds up the actions for all members.
	// +optional
	// +listType=atomic
	Steps []PlanStep `json:"steps,omitempty" protobuf:"bytes,1,rep,name=steps"`
	// waitingFor says what the set waits for then, empty if for nothing.
	// +optional
	WaitingFor string `json:"waitingFor,omitempty" protobuf:"bytes,2,opt,name=waitingFor"`
	// warnings are what people should know although nothing is done about it.
	// +optional
	// +listType=atomic
	Warnings []PlanWarning `json:"warnings,omitempty" protobuf:"bytes,3,rep,name=warnings"`
	// unavailable is how many wanted members serve nobody when the round begins.
	Unavailable int32 `json:"unavailable" protobuf:"varint,4,opt,name=unavailable"`
	// maxUnavailable is how many may, because of an update.
	MaxUnavailable int32 `json:"maxUnavailable" protobuf:"varint,5,opt,name=maxUnavailable"`
	// requeueAfterSeconds is how long it takes, rounded up, until the controller looks
	// again although nothing has changed. Absent if it never does.
	// +optional
	RequeueAfterSeconds *int32 `json:"requeueAfterSeconds,omitempty" protobuf:"varint,6,opt,name=requeueAfterSeconds"`
	// expectedEvents are the events that the host is taken to answer the round with, such
	// as "pod web-2 is gone". Always empty in the plan of the set as it is.
	// +optional
	// +listType=atomic
	ExpectedEvents []string `json:"expectedEvents,omitempty" protobuf:"bytes,7,rep,name=expectedEvents"`
	// members are those that are to be changed and are not in this round, each with the
	// reason, in the order of the update. They are listed, up to 100, of the first round, and of
	// the last one if the plan is stuck.
	// +optional
	// +listType=atomic
	Members []PlanMember `json:"members,omitempty" protobuf:"bytes,8,rep,name=members"`
}

// PlanMember is a member that is to be changed, and is not in this round.
type PlanMember struct {
	// ordinal is that of the member.
	Ordinal int32 `json:"ordinal" protobuf:"varint,1,opt,name=ordinal"`
	// revision is the one that its pod has.
	// +optional
	Revision string `json:"revision,omitempty" protobuf:"bytes,2,opt,name=revision"`
	// target is the revision that it is to have.
	Target string `json:"target" protobuf:"bytes,3,opt,name=target"`
	// whyNot says why it is not its turn.
	WhyNot PlanWhyNot `json:"whyNot" protobuf:"bytes,4,opt,name=whyNot,casttype=PlanWhyNot"`
	// message is a sentence for people that says the same.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`
}

// PlanWhyNot says why a member is not changed in a round.
// +enum
type PlanWhyNot string

const (
	// PlanWhyNotHeld says that the set is on hold, or waits for its revisions.
	PlanWhyNotHeld PlanWhyNot = "Held"
	// PlanWhyNotOnDelete says that the update strategy leaves it to people.
	PlanWhyNotOnDelete PlanWhyNot = "OnDelete"
	// PlanWhyNotPaused says that the update is paused.
	PlanWhyNotPaused PlanWhyNot = "Paused"
	// PlanWhyNotAborted says that somebody has aborted the update, and it cannot go back.
	PlanWhyNotAborted PlanWhyNot = "Aborted"
	// PlanWhyNotFailed says that the update has failed.
	PlanWhyNotFailed PlanWhyNot = "Failed"
	// PlanWhyNotPartition says that the member is below the partition.
	PlanWhyNotPartition PlanWhyNot = "Partition"
	// PlanWhyNotStepQuota says that the step of the update does not reach the member.
	PlanWhyNotStepQuota PlanWhyNot = "StepQuota"
	// PlanWhyNotOrder says that the member is last, by its labels.
	PlanWhyNotOrder PlanWhyNot = "Order"
	// PlanWhyNotPredecessor says that an ordered set waits for another member.
	PlanWhyNotPredecessor PlanWhyNot = "Predecessor"
	// PlanWhyNotBudget says that as many members are unavailable as may be.
	PlanWhyNotBudget PlanWhyNot = "Budget"
	// PlanWhyNotGate says that a gate has yet to agree.
	PlanWhyNotGate PlanWhyNot = "Gate"
	// PlanWhyNotDraining says that the member is out of service, and its containers are
	// restarted when that has lasted for as long as the set says.
	PlanWhyNotDraining PlanWhyNot = "Draining"
	// PlanWhyNotClaimGrowth says that claims of the member come first.
	PlanWhyNotClaimGrowth PlanWhyNot = "ClaimGrowth"
	// PlanWhyNotNotReturnable says that the member could not be created again.
	PlanWhyNotNotReturnable PlanWhyNot = "NotReturnable"
	// PlanWhyNotInPlaceImpossible says that the member would have to be recreated, which the
	// set does not allow.
	PlanWhyNotInPlaceImpossible PlanWhyNot = "InPlaceImpossible"
)

// PlanStep is a list of actions that are carried out at the same time.
type PlanStep struct {
	// actions are independent of each other: one that fails stops none of the others.
	// +listType=atomic
	Actions []PlanAction `json:"actions" protobuf:"bytes,1,rep,name=actions"`
}

// PlanActionType says what an action does.
// +enum
type PlanActionType string

const (
	// PlanCreateMember creates the claims that a member lacks, and then its pod.
	PlanCreateMember PlanActionType = "CreateMember"
	// PlanCreateClaims creates claims that an existing pod waits for.
	PlanCreateClaims PlanActionType = "CreateClaims"
	// PlanSetClaimOwners makes the owner references of a claim follow the retention
	// policy.
	PlanSetClaimOwners PlanActionType = "SetClaimOwners"
	// PlanUpdateClaim makes a claim larger, or gives it the attributes, labels and annotations
	// of its template.
	PlanUpdateClaim PlanActionType = "UpdateClaim"
	// PlanMarkClaim notes on a claim what its deletion rests on: that a pod of the set mounts it,
	// since when its member is removed, or that it is to stay.
	PlanMarkClaim PlanActionType = "MarkClaim"
	// PlanDeleteClaim deletes the claim of a member that was removed long enough ago, and its data.
	PlanDeleteClaim PlanActionType = "DeleteClaim"
	// PlanCreateObject creates an object that a template of spec.objectTemplates describes.
	PlanCreateObject PlanActionType = "CreateObject"
	// PlanApplyObject brings such an object to what its template describes now.
	PlanApplyObject PlanActionType = "ApplyObject"
	// PlanMarkObject notes on such an object since when its member is removed, or that it is to stay.
	PlanMarkObject PlanActionType = "MarkObject"
	// PlanCreateAnchor creates the revision without a template that such objects belong to that are
	// deleted with the set.
	PlanCreateAnchor PlanActionType = "CreateAnchor"
	// PlanOwnAnchor has that revision be deleted with the set.
	PlanOwnAnchor PlanActionType = "OwnAnchor"
	// PlanSetObjectOwners has the object of a member that is not wanted be deleted with the set, or not
	// any more.
	PlanSetObjectOwners PlanActionType = "SetObjectOwners"
	// PlanDeleteObject deletes the object of a member that was removed long enough ago.
	PlanDeleteObject PlanActionType = "DeleteObject"
	// PlanRepairPod restores the labels of a pod's identity.
	PlanRepairPod PlanActionType = "RepairPod"
	// PlanUpdateInPlace brings a pod to another revision without replacing it.
	PlanUpdateInPlace PlanActionType = "UpdateInPlace"
	// PlanResizePod gives containers of a pod that is updated in place other cpu and memory.
	PlanResizePod PlanActionType = "ResizePod"
	// PlanEndInPlace notes at a pod that its containers have been restarted and resized.
	PlanEndInPlace PlanActionType = "EndInPlace"
	// PlanPatchPod changes labels and annotations of a pod.
	PlanPatchPod PlanActionType = "PatchPod"
	// PlanSetPodConditions sets conditions in the status of a pod.
	PlanSetPodConditions PlanActionType = "SetPodConditions"
	// PlanDeletePod removes a pod gracefully.
	PlanDeletePod PlanActionType = "DeletePod"
	// PlanAdoptPod makes the set the controller of a pod that has none.
	PlanAdoptPod PlanActionType = "AdoptPod"
	// PlanReleasePod gives up a pod that no longer matches the set.
	PlanReleasePod PlanActionType = "ReleasePod"
	// PlanCreateRevision records the set's template.
	PlanCreateRevision PlanActionType = "CreateRevision"
	// PlanRaiseRevision makes an earlier revision the latest again.
	PlanRaiseRevision PlanActionType = "RaiseRevision"
	// PlanAdoptRevision makes the set the controller of a revision that has none.
	PlanAdoptRevision PlanActionType = "AdoptRevision"
	// PlanDeleteRevision removes a revision that nothing needs any more.
	PlanDeleteRevision PlanActionType = "DeleteRevision"
)

// PlanAction is one thing that the controller does in the host cluster.
type PlanAction struct {
	// type says what the action does.
	Type PlanActionType `json:"type" protobuf:"bytes,1,opt,name=type,casttype=PlanActionType"`
	// ordinal is the member that the action is for. Absent for actions on revisions
	// and on pods that are no members any more.
	// +optional
	Ordinal *int32 `json:"ordinal,omitempty" protobuf:"varint,2,opt,name=ordinal"`
	// pod is the name of the pod that the action creates, changes or removes.
	// +optional
	Pod string `json:"pod,omitempty" protobuf:"bytes,3,opt,name=pod"`
	// claims are the names of the claims that the action creates or changes.
	// +optional
	// +listType=atomic
	Claims []string `json:"claims,omitempty" protobuf:"bytes,4,rep,name=claims"`
	// revision is the name of the revision that a pod is created at, or that the
	// action is about.
	// +optional
	Revision string `json:"revision,omitempty" protobuf:"bytes,5,opt,name=revision"`
	// message says in a few words for what reason the action is done.
	Message string `json:"message" protobuf:"bytes,6,opt,name=message"`
	// description says in one line what the action does.
	Description string `json:"description" protobuf:"bytes,7,opt,name=description"`
}

// PlanWarning is a word for programs and a sentence for people.
type PlanWarning struct {
	// reason is one CamelCase word.
	Reason string `json:"reason" protobuf:"bytes,1,opt,name=reason"`
	// message is a sentence that names the object and the cause.
	Message string `json:"message" protobuf:"bytes,2,opt,name=message"`
}
