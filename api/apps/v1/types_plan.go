// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatefulSetPlan lists what the controller does for a set, in which order and why, and what
// prevents it from doing more. The server computes it for each request, and never stores it.
//
// GET statefulsets/NAME/plan returns the current round of the controller. POST with a StatefulSet
// or a Scale of that name returns all rounds that it would lead to. The server simulates them with
// a host cluster that accepts all requests: pods start and become available, and terminating pods
// end. Neither request changes anything.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type StatefulSetPlan struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:",inline"`
	// metadata has the name and the namespace of the set, and its UID, resource
	// version and generation if it exists.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// rounds are the syncs of the controller, in their order. A round begins when the changes that
	// the round before requested have happened. The plan of a proposed set omits rounds that do
	// nothing and wait for nothing new.
	// +listType=atomic
	Rounds []PlanRound `json:"rounds" protobuf:"bytes,2,rep,name=rounds"`

	// outcome is how the plan ends: Converged, InProgress, Stuck or Held.
	Outcome PlanOutcome `json:"outcome" protobuf:"bytes,3,opt,name=outcome,casttype=PlanOutcome"`
	// reason is one CamelCase word for the outcome, as in the conditions of the set.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`
	// message describes the outcome in a sentence for people.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`

	// truncated is true if rounds or actions are missing because a plan cannot list more.
	// +optional
	Truncated bool `json:"truncated,omitempty" protobuf:"varint,6,opt,name=truncated"`

	// status is the status of the set at the beginning of the last round.
	// +optional
	Status StatefulSetStatus `json:"status,omitempty" protobuf:"bytes,7,opt,name=status"`
}

// PlanOutcome is how a plan ends.
// +enum
type PlanOutcome string

const (
	// PlanConverged means that the set matches its spec, and nothing is left to do.
	PlanConverged PlanOutcome = "Converged"
	// PlanInProgress means that the round does something, or waits for something, that leads to
	// progress. Only a plan that was not simulated to its end has this outcome.
	PlanInProgress PlanOutcome = "InProgress"
	// PlanStuck means that there is no progress until a person acts. reason and message name the
	// cause.
	PlanStuck PlanOutcome = "Stuck"
	// PlanHeld means that the set is suspended by its annotation.
	PlanHeld PlanOutcome = "Held"
)

// PlanRound is what the controller does in one sync of a set.
type PlanRound struct {
	// steps are the actions, grouped by the time at which they begin if the host cluster refuses
	// none of them. A refused action delays the actions of its own member in later steps. A refused
	// action that records or raises a revision delays the actions of all members.
	// +optional
	// +listType=atomic
	Steps []PlanStep `json:"steps,omitempty" protobuf:"bytes,1,rep,name=steps"`
	// waitingFor is what the set waits for after the actions. It is empty if it waits for nothing.
	// +optional
	WaitingFor string `json:"waitingFor,omitempty" protobuf:"bytes,2,opt,name=waitingFor"`
	// warnings describe problems that the controller does not solve.
	// +optional
	// +listType=atomic
	Warnings []PlanWarning `json:"warnings,omitempty" protobuf:"bytes,3,rep,name=warnings"`
	// unavailable is the number of desired members that are unavailable when the round begins.
	Unavailable int32 `json:"unavailable" protobuf:"varint,4,opt,name=unavailable"`
	// maxUnavailable is the number of members that may be unavailable because of an update.
	MaxUnavailable int32 `json:"maxUnavailable" protobuf:"varint,5,opt,name=maxUnavailable"`
	// requeueAfterSeconds is the number of seconds, rounded up, until the next sync if nothing
	// changes before. Absent if there is no such sync.
	// +optional
	RequeueAfterSeconds *int32 `json:"requeueAfterSeconds,omitempty" protobuf:"varint,6,opt,name=requeueAfterSeconds"`
	// expectedEvents are the events in the host cluster that the simulation assumes after this
	// round, such as "pod web-2 is gone". It is empty in the plan of the current set.
	// +optional
	// +listType=atomic
	ExpectedEvents []string `json:"expectedEvents,omitempty" protobuf:"bytes,7,rep,name=expectedEvents"`
	// members are the members that an update will change but that this round does not change, each
	// with the reason, in the order of the update. Only the first round lists them, and the last
	// round if the plan is stuck. At most 100.
	// +optional
	// +listType=atomic
	Members []PlanMember `json:"members,omitempty" protobuf:"bytes,8,rep,name=members"`
}

// PlanMember is a member that an update will change, but not in this round.
type PlanMember struct {
	// ordinal is the ordinal of the member.
	Ordinal int32 `json:"ordinal" protobuf:"varint,1,opt,name=ordinal"`
	// revision is the revision of its pod.
	// +optional
	Revision string `json:"revision,omitempty" protobuf:"bytes,2,opt,name=revision"`
	// target is the revision that the member will have.
	Target string `json:"target" protobuf:"bytes,3,opt,name=target"`
	// whyNot is the reason why the member is not changed in this round.
	WhyNot PlanWhyNot `json:"whyNot" protobuf:"bytes,4,opt,name=whyNot,casttype=PlanWhyNot"`
	// message describes the reason in a sentence for people.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`
}

// PlanWhyNot is the reason why a member is not changed in a round.
// +enum
type PlanWhyNot string

const (
	// PlanWhyNotHeld means that the set is suspended, or waits for its revisions.
	PlanWhyNotHeld PlanWhyNot = "Held"
	// PlanWhyNotOnDelete means that with the update strategy OnDelete, a user must delete the pod.
	PlanWhyNotOnDelete PlanWhyNot = "OnDelete"
	// PlanWhyNotPaused means that the update is paused.
	PlanWhyNotPaused PlanWhyNot = "Paused"
	// PlanWhyNotAborted means that a user aborted the update, and it cannot be rolled back.
	PlanWhyNotAborted PlanWhyNot = "Aborted"
	// PlanWhyNotFailed means that the update has failed.
	PlanWhyNotFailed PlanWhyNot = "Failed"
	// PlanWhyNotPartition means that the member is below the partition.
	PlanWhyNotPartition PlanWhyNot = "Partition"
	// PlanWhyNotStepQuota means that the current step of the update does not include the member.
	PlanWhyNotStepQuota PlanWhyNot = "StepQuota"
	// PlanWhyNotOrder means that the labels of the member make it last in the order of the update.
	PlanWhyNotOrder PlanWhyNot = "Order"
	// PlanWhyNotPredecessor means that an ordered set waits for another member.
	PlanWhyNotPredecessor PlanWhyNot = "Predecessor"
	// PlanWhyNotBudget means that the maximum number of members is unavailable.
	PlanWhyNotBudget PlanWhyNot = "Budget"
	// PlanWhyNotGate means that a gate has not agreed yet.
	PlanWhyNotGate PlanWhyNot = "Gate"
	// PlanWhyNotDraining means that the member is being drained. Its containers are restarted after
	// spec.updateStrategy.rollingUpdate.inPlace.drainSeconds.
	PlanWhyNotDraining PlanWhyNot = "Draining"
	// PlanWhyNotClaimGrowth means that claims of the member are changed first.
	PlanWhyNotClaimGrowth PlanWhyNot = "ClaimGrowth"
	// PlanWhyNotNotReturnable means that the member could not be created again.
	PlanWhyNotNotReturnable PlanWhyNot = "NotReturnable"
	// PlanWhyNotInPlaceImpossible means that the member would have to be recreated, and the set
	// does not allow that.
	PlanWhyNotInPlaceImpossible PlanWhyNot = "InPlaceImpossible"
)

// PlanStep is a list of actions that the controller executes at the same time.
type PlanStep struct {
	// actions are independent of each other: if one fails, the others continue.
	// +listType=atomic
	Actions []PlanAction `json:"actions" protobuf:"bytes,1,rep,name=actions"`
}

// PlanActionType is the type of an action.
// +enum
type PlanActionType string

const (
	// PlanCreateMember creates the missing claims of a member, and then its pod.
	PlanCreateMember PlanActionType = "CreateMember"
	// PlanCreateClaims creates claims that an existing pod waits for.
	PlanCreateClaims PlanActionType = "CreateClaims"
	// PlanSetClaimOwners changes the owner references of a claim to match the retention policy.
	PlanSetClaimOwners PlanActionType = "SetClaimOwners"
	// PlanUpdateClaim enlarges a claim, or sets the attributes, labels and annotations of its
	// template.
	PlanUpdateClaim PlanActionType = "UpdateClaim"
	// PlanMarkClaim records on a claim that a pod of the set mounts it, since when its member is
	// removed, or that it is kept. The deletion of the claim depends on these records.
	PlanMarkClaim PlanActionType = "MarkClaim"
	// PlanDeleteClaim deletes the claim of a member whose removal is long enough ago, with its
	// data.
	PlanDeleteClaim PlanActionType = "DeleteClaim"
	// PlanCreateObject creates an object that a template of spec.objectTemplates describes.
	PlanCreateObject PlanActionType = "CreateObject"
	// PlanApplyObject changes an object to match its current template.
	PlanApplyObject PlanActionType = "ApplyObject"
	// PlanMarkObject records on an object since when its member is removed, or that it is kept.
	PlanMarkObject PlanActionType = "MarkObject"
	// PlanCreateAnchor creates the ControllerRevision that owns the objects which are deleted with
	// the set. It records no template.
	PlanCreateAnchor PlanActionType = "CreateAnchor"
	// PlanOwnAnchor makes the set an owner of the ControllerRevision that owns objects, so that it
	// is deleted with the set.
	PlanOwnAnchor PlanActionType = "OwnAnchor"
	// PlanSetObjectOwners changes whether the object of a surplus member is deleted with the set.
	PlanSetObjectOwners PlanActionType = "SetObjectOwners"
	// PlanDeleteObject deletes the object of a member whose removal is long enough ago.
	PlanDeleteObject PlanActionType = "DeleteObject"
	// PlanRepairPod restores the labels that identify a pod.
	PlanRepairPod PlanActionType = "RepairPod"
	// PlanUpdateInPlace updates a pod to another revision without replacing it.
	PlanUpdateInPlace PlanActionType = "UpdateInPlace"
	// PlanResizePod changes the CPU and memory of containers of a pod that is updated in place.
	PlanResizePod PlanActionType = "ResizePod"
	// PlanEndInPlace records on a pod that its containers have been restarted and resized.
	PlanEndInPlace PlanActionType = "EndInPlace"
	// PlanPatchPod changes labels and annotations of a pod.
	PlanPatchPod PlanActionType = "PatchPod"
	// PlanSetPodConditions sets conditions in the status of a pod.
	PlanSetPodConditions PlanActionType = "SetPodConditions"
	// PlanDeletePod deletes a pod gracefully.
	PlanDeletePod PlanActionType = "DeletePod"
	// PlanAdoptPod makes the set the controller of a pod that has none.
	PlanAdoptPod PlanActionType = "AdoptPod"
	// PlanReleasePod releases a pod that no longer matches the selector of the set.
	PlanReleasePod PlanActionType = "ReleasePod"
	// PlanCreateRevision records the template of the set.
	PlanCreateRevision PlanActionType = "CreateRevision"
	// PlanRaiseRevision makes an earlier revision the latest again.
	PlanRaiseRevision PlanActionType = "RaiseRevision"
	// PlanAdoptRevision makes the set the controller of a revision that has none.
	PlanAdoptRevision PlanActionType = "AdoptRevision"
	// PlanDeleteRevision deletes a revision that is not needed any more.
	PlanDeleteRevision PlanActionType = "DeleteRevision"
)

// PlanAction is one change that the controller makes in the host cluster.
type PlanAction struct {
	// type is the type of the action.
	Type PlanActionType `json:"type" protobuf:"bytes,1,opt,name=type,casttype=PlanActionType"`
	// ordinal is the ordinal of the member that the action is for. Absent for actions on revisions,
	// and on pods that are not members any more.
	// +optional
	Ordinal *int32 `json:"ordinal,omitempty" protobuf:"varint,2,opt,name=ordinal"`
	// pod is the name of the pod that the action creates, changes or removes.
	// +optional
	Pod string `json:"pod,omitempty" protobuf:"bytes,3,opt,name=pod"`
	// claims are the names of the claims that the action creates or changes.
	// +optional
	// +listType=atomic
	Claims []string `json:"claims,omitempty" protobuf:"bytes,4,rep,name=claims"`
	// revision is the name of the revision at which a pod is created, or that the action is for.
	// +optional
	Revision string `json:"revision,omitempty" protobuf:"bytes,5,opt,name=revision"`
	// message is the reason for the action, in a few words.
	Message string `json:"message" protobuf:"bytes,6,opt,name=message"`
	// description describes the action in one line.
	Description string `json:"description" protobuf:"bytes,7,opt,name=description"`
}

// PlanWarning describes a problem that the controller does not solve.
type PlanWarning struct {
	// reason is one CamelCase word, for programs.
	Reason string `json:"reason" protobuf:"bytes,1,opt,name=reason"`
	// message is a sentence for people. It names the object and the cause.
	Message string `json:"message" protobuf:"bytes,2,opt,name=message"`
}
