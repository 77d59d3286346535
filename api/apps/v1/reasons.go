// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// The reasons of events and of the warnings of a plan.
const (
	// ReasonUnreadyMemberBlocks: a pod that is not ready, and not at the target revision of its
	// member, blocks an update.
	ReasonUnreadyMemberBlocks = "UnreadyMemberBlocks"
	// ReasonReplacingUnreadyMember: the controller replaces such a pod.
	ReasonReplacingUnreadyMember = "ReplacingUnreadyMember"
	// ReasonOtherServiceName: members have the DNS names of a Service that the set does not name
	// any more.
	ReasonOtherServiceName = "OtherServiceName"
	// ReasonInPlaceFallback: members are recreated, because the update in place that the set
	// requests is not possible.
	ReasonInPlaceFallback = "InPlaceFallback"
	// ReasonMemberUpdatedInPlace: the pod of a member was updated to another revision without being
	// replaced.
	ReasonMemberUpdatedInPlace = "MemberUpdatedInPlace"
	// ReasonDisruptionRequested: the gates of spec.disruption are asked about a member.
	ReasonDisruptionRequested = "DisruptionRequested"
	// ReasonEvictionBlocked: a PodDisruptionBudget does not allow the eviction or the restart in
	// place of a pod.
	ReasonEvictionBlocked = "EvictionBlocked"
	// ReasonObjectDiffers: an object that the set uses but does not own differs from its template.
	ReasonObjectDiffers = "ObjectDiffers"
	// ReasonObjectDrifted: another client changes an object of a template, and the controller
	// changes it back.
	ReasonObjectDrifted = "ObjectDrifted"
	// ReasonRolloutStepDone: an update has completed a step.
	ReasonRolloutStepDone = "RolloutStepDone"
	// ReasonRolloutRolledBack: no member is left at the revision of an update that is rolled back.
	ReasonRolloutRolledBack = "RolloutRolledBack"
	// ReasonClaimGrown: the last claims of a template that had to grow have grown.
	ReasonClaimGrown = "ClaimGrown"
	// ReasonEvaluationReleased: a user released a set whose evaluation was stopped, and the controller
	// evaluates its expressions once more.
	ReasonEvaluationReleased = "EvaluationReleased"
	// ReasonRolloutPromoted: a user promoted steps of an update.
	ReasonRolloutPromoted = "RolloutPromoted"
	// ReasonRolloutAborted: a user aborted an update.
	ReasonRolloutAborted = "RolloutAborted"
	// ReasonRolloutRestarted: a user restarted the set.
	ReasonRolloutRestarted = "RolloutRestarted"
	// ReasonReplacementRequested: a user requested the replacement of members.
	ReasonReplacementRequested = "ReplacementRequested"
	// ReasonLostNodeReported: a user reported a node as lost, and requested the replacement of its
	// members.
	ReasonLostNodeReported = "LostNodeReported"
	// ReasonOtherOverride: members have an override that they should not have any more, or lack
	// one. They keep that state until they are recreated.
	ReasonOtherOverride = "OtherOverride"
)

// The reasons of the conditions of a set. Programs may rely on them; the messages are for people.
const (
	// ReasonPending: the controller has not synced the set yet.
	ReasonPending = "Pending"
	// ReasonHeld: the set is suspended by HoldAnnotation.
	ReasonHeld = "Held"
	// ReasonDeleting: the set is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonWaitingForRevisions: revisions that the pods of the set run still belong to another
	// owner, which is about to release them.
	ReasonWaitingForRevisions = "WaitingForRevisions"

	// ReasonCreatingMembers: desired members have no pod yet.
	ReasonCreatingMembers = "CreatingMembers"
	// ReasonRemovingMembers: pods of surplus members are being removed.
	ReasonRemovingMembers = "RemovingMembers"
	// ReasonWaitingForObjects: objects of templates are not created yet.
	ReasonWaitingForObjects = "WaitingForObjects"
	// ReasonWaitingForOutputs: objects do not have the outputs yet that pods need.
	ReasonWaitingForOutputs = "WaitingForOutputs"
	// ReasonKindUnavailable: objects of a kind in a template cannot be watched, so the controller
	// does not change them.
	ReasonKindUnavailable = "KindUnavailable"
	// ReasonUpdating: members are being replaced at the update revision.
	ReasonUpdating = "Updating"
	// ReasonReplacingMembers: members are being replaced because a user requested it.
	ReasonReplacingMembers = "ReplacingMembers"
	// ReasonChangingClaimOwners: a claim that the retention policy keeps still has an owner with
	// which it would be deleted.
	ReasonChangingClaimOwners = "ChangingClaimOwners"
	// ReasonGrowingClaims: claims of members do not match their templates yet.
	ReasonGrowingClaims = "GrowingClaims"
	// ReasonWaitingForMembers: every member has a pod, and not all are available.
	ReasonWaitingForMembers = "WaitingForMembers"
	// ReasonWaitingForGate: a gate of spec.disruption has not agreed yet that a pod is taken out of
	// service.
	ReasonWaitingForGate = "WaitingForGate"
	// ReasonPaused: members are outdated, and spec.updateStrategy.rollingUpdate.paused prevents
	// their update.
	ReasonPaused = "Paused"
	// ReasonBaking: the members of a step are available, and must stay available for bakeSeconds.
	ReasonBaking = "Baking"
	// ReasonWaitingForConditions: a pod condition that a step requires is not True yet.
	ReasonWaitingForConditions = "WaitingForConditions"
	// ReasonWaitingForPromotion: a step waits until a user promotes it.
	ReasonWaitingForPromotion = "WaitingForPromotion"
	// ReasonRollingBack: members return to the current revision, because the update failed or was
	// aborted.
	ReasonRollingBack = "RollingBack"
	// ReasonMembersAvailable: the set matches its spec.
	ReasonMembersAvailable = "MembersAvailable"

	// ReasonMinimumReplicasAvailable: no more members are unavailable than the update strategy
	// allows, and at least one serves.
	ReasonMinimumReplicasAvailable = "MinimumReplicasAvailable"
	// ReasonMinimumReplicasUnavailable: more members are unavailable than the update strategy
	// allows, or none serves.
	ReasonMinimumReplicasUnavailable = "MinimumReplicasUnavailable"

	// ReasonRecreateInProgress: an update of the type Recreate is in progress.
	ReasonRecreateInProgress = "RecreateInProgress"
	// ReasonRecreateCompleted: an update of the type Recreate is complete.
	ReasonRecreateCompleted = "RecreateCompleted"

	// ReasonNotStalled: nothing blocks the controller.
	ReasonNotStalled = "NotStalled"
	// ReasonProgressDeadlineExceeded: the set does not match its spec, and there was no progress
	// for spec.progressDeadlineSeconds.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonHostRefused: the host cluster refused a request. The controller tries it again, with
	// back-off.
	ReasonHostRefused = "HostRefused"
	// ReasonHostUnavailable: the host cluster could not be reached. The controller tries the
	// request again, with back-off.
	ReasonHostUnavailable = "HostUnavailable"
	// ReasonDisruptionNotAllowed: a PodDisruptionBudget does not allow the eviction or the restart
	// in place of a pod. The controller tries it again after 10 to 60 seconds.
	ReasonDisruptionNotAllowed = "DisruptionNotAllowed"
	// ReasonInvalidSelector: spec.selector is invalid.
	ReasonInvalidSelector = "InvalidSelector"
	// ReasonNameTaken: a pod that the set does not own has the name of a member.
	ReasonNameTaken = "NameTaken"
	// ReasonClaimShared: another, older set has claims of the same names.
	ReasonClaimShared = "ClaimShared"
	// ReasonRenderFailed: for some member, spec.identity and the templates do not give a valid pod,
	// claim or object.
	ReasonRenderFailed = "RenderFailed"
	// ReasonObjectShared: an object of a template belongs to another set.
	ReasonObjectShared = "ObjectShared"
	// ReasonObjectExists: an object that the set does not own has the name of an object of a
	// template, and the template does not allow its use.
	ReasonObjectExists = "ObjectExists"
	// ReasonGeneratedSecretMissing: a generated Secret is gone, or lacks a key. The controller does
	// not generate it again, because data may have been written with it.
	ReasonGeneratedSecretMissing = "GeneratedSecretMissing"
	// ReasonClaimsNotMounted: a pod does not mount the claims of its member.
	ReasonClaimsNotMounted = "ClaimsNotMounted"
	// ReasonClaimGrowthRefused: a claim cannot be changed to match its template.
	ReasonClaimGrowthRefused = "ClaimGrowthRefused"
	// ReasonClaimTemplateInUse: a member would be created at a revision that mounts a name which is
	// neither a claim template nor a volume.
	ReasonClaimTemplateInUse = "ClaimTemplateInUse"
	// ReasonInPlaceImpossible: members cannot be updated in place, and the set does not allow
	// another update.
	ReasonInPlaceImpossible = "InPlaceImpossible"
	// ReasonMissingRight: the controller lacks a right that the set needs.
	ReasonMissingRight = "MissingRight"
	// ReasonRolloutFailed: an update failed or was aborted, and does not continue.
	ReasonRolloutFailed = "RolloutFailed"
	// ReasonRolledBack: an update was rolled back. It is not tried again until the set gets another
	// template.
	ReasonRolledBack = "RolledBack"
	// ReasonEvaluationStopped: processes of the controller ended while they evaluated expressions
	// of the set, so the controller does not evaluate them any more.
	ReasonEvaluationStopped = "EvaluationStopped"
	// ReasonRevisionUnreadable: the record of a revision cannot be read.
	ReasonRevisionUnreadable = "RevisionUnreadable"
)

// The reasons in status.rollout.failure.
const (
	// RolloutConditionFalse: a pod condition that a step requires is False.
	RolloutConditionFalse = "PodConditionFalse"
	// RolloutDeadlineExceeded: a member that the update has reached is not available, and nothing
	// has improved for spec.progressDeadlineSeconds.
	RolloutDeadlineExceeded = "ProgressDeadlineExceeded"
)
