// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// The reasons that warnings of a plan, and events, give.
const (
	// ReasonUnreadyMemberBlocks: a member that is not ready, and not at the revision that
	// it is to have, keeps an update from going on.
	ReasonUnreadyMemberBlocks = "UnreadyMemberBlocks"
	// ReasonReplacingUnreadyMember: such a member is being replaced.
	ReasonReplacingUnreadyMember = "ReplacingUnreadyMember"
	// ReasonOtherServiceName: members have the DNS names of a service that the set does not
	// name any more.
	ReasonOtherServiceName = "OtherServiceName"
	// ReasonInPlaceFallback: members are recreated, because an update in place, which the set
	// asks for, is not possible.
	ReasonInPlaceFallback = "InPlaceFallback"
	// ReasonMemberUpdatedInPlace: the pod of a member has been brought to another revision
	// without being replaced.
	ReasonMemberUpdatedInPlace = "MemberUpdatedInPlace"
	// ReasonDisruptionRequested: the gates of spec.disruption are asked about a member.
	ReasonDisruptionRequested = "DisruptionRequested"
	// ReasonEvictionBlocked: a PodDisruptionBudget does not let a member be evicted, or restarted in
	// place.
	ReasonEvictionBlocked = "EvictionBlocked"
	// ReasonObjectDiffers: an object of somebody else, which is used, is not as its template describes.
	ReasonObjectDiffers = "ObjectDiffers"
	// ReasonObjectDrifted: somebody changes an object that a template describes, and the controller
	// changes it back.
	ReasonObjectDrifted = "ObjectDrifted"
	// ReasonRolloutStepDone: an update has done one of its steps.
	ReasonRolloutStepDone = "RolloutStepDone"
	// ReasonRolloutRolledBack: no member is left at the revision of an update that is rolled back.
	ReasonRolloutRolledBack = "RolloutRolledBack"
	// ReasonClaimGrown: the claims of a template that had to grow have grown.
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
	// ReasonLostNodeReported: a user reported a node as lost, and requested the replacement of its members.
	ReasonLostNodeReported = "LostNodeReported"
	// ReasonOtherOverride: members keep an override that they are not to have any more, or lack
	// one that they are to have, until they are recreated.
	ReasonOtherOverride = "OtherOverride"
)

// The reasons that conditions of a set give. Programs may rely on them; the messages
// beside them are for people.
const (
	// ReasonPending: the controller has not looked at the set yet.
	ReasonPending = "Pending"
	// ReasonHeld: the annotation HoldAnnotation keeps the controller from acting.
	ReasonHeld = "Held"
	// ReasonDeleting: the set is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonWaitingForRevisions: revisions that the set's pods run still belong to
	// another owner, who is about to give them up.
	ReasonWaitingForRevisions = "WaitingForRevisions"

	// ReasonCreatingMembers: wanted members have no pod yet.
	ReasonCreatingMembers = "CreatingMembers"
	// ReasonRemovingMembers: pods of members that are not wanted are being removed.
	ReasonRemovingMembers = "RemovingMembers"
	// ReasonWaitingForObjects: objects that templates describe are yet to be created.
	ReasonWaitingForObjects = "WaitingForObjects"
	// ReasonWaitingForOutputs: objects do not give yet what pods are to have of them.
	ReasonWaitingForOutputs = "WaitingForOutputs"
	// ReasonKindUnavailable: objects of a kind that a template describes cannot be watched, so
	// that nothing is done about them.
	ReasonKindUnavailable = "KindUnavailable"
	// ReasonUpdating: members are being replaced at the present revision.
	ReasonUpdating = "Updating"
	// ReasonReplacingMembers: members are being replaced because somebody has asked for it.
	ReasonReplacingMembers = "ReplacingMembers"
	// ReasonChangingClaimOwners: the retention policy keeps a claim that still has an owner with which it
	// would be deleted.
	ReasonChangingClaimOwners = "ChangingClaimOwners"
	// ReasonGrowingClaims: claims of members have yet to become as their templates describe.
	ReasonGrowingClaims = "GrowingClaims"
	// ReasonWaitingForMembers: every member has a pod, and not all are available.
	ReasonWaitingForMembers = "WaitingForMembers"
	// ReasonWaitingForGate: a gate of spec.disruption has yet to agree that a member is taken
	// from service.
	ReasonWaitingForGate = "WaitingForGate"
	// ReasonPaused: members are to be updated, and spec.updateStrategy.rollingUpdate.paused
	// keeps them from it.
	ReasonPaused = "Paused"
	// ReasonBaking: the members of a step are available, and have to stay so for a while.
	ReasonBaking = "Baking"
	// ReasonWaitingForConditions: a pod condition that a step asks for is not True yet.
	ReasonWaitingForConditions = "WaitingForConditions"
	// ReasonWaitingForPromotion: a step waits for somebody to promote it.
	ReasonWaitingForPromotion = "WaitingForPromotion"
	// ReasonRollingBack: members go back to the current revision, because the update has failed
	// or was aborted.
	ReasonRollingBack = "RollingBack"
	// ReasonMembersAvailable: the set is as its spec wants it.
	ReasonMembersAvailable = "MembersAvailable"

	// ReasonMinimumReplicasAvailable: no more members are unavailable than the update strategy
	// allows, and at least one serves.
	ReasonMinimumReplicasAvailable = "MinimumReplicasAvailable"
	// ReasonMinimumReplicasUnavailable: more members are unavailable than the update strategy
	// allows, or none serves.
	ReasonMinimumReplicasUnavailable = "MinimumReplicasUnavailable"

	// ReasonRecreateInProgress: an update of the type Recreate is under way.
	ReasonRecreateInProgress = "RecreateInProgress"
	// ReasonRecreateCompleted: an update of the type Recreate is complete.
	ReasonRecreateCompleted = "RecreateCompleted"

	// ReasonNotStalled: nothing keeps the controller from going on.
	ReasonNotStalled = "NotStalled"
	// ReasonProgressDeadlineExceeded: the set is not as its spec wants it, and nothing
	// has moved for spec.progressDeadlineSeconds.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonHostRefused: the host cluster understood a request and refused it. It is
	// tried again, with back-off.
	ReasonHostRefused = "HostRefused"
	// ReasonHostUnavailable: the host cluster could not be asked. It is tried again,
	// with back-off.
	ReasonHostUnavailable = "HostUnavailable"
	// ReasonDisruptionNotAllowed: a PodDisruptionBudget does not let a member be evicted, or
	// restarted in place. It is tried again after 10 to 60 seconds.
	ReasonDisruptionNotAllowed = "DisruptionNotAllowed"
	// ReasonInvalidSelector: spec.selector cannot be used.
	ReasonInvalidSelector = "InvalidSelector"
	// ReasonNameTaken: a pod that is not the set's has the name of a member.
	ReasonNameTaken = "NameTaken"
	// ReasonClaimShared: another, older set has claims of the same names.
	ReasonClaimShared = "ClaimShared"
	// ReasonRenderFailed: what spec.identity makes of the templates for a member is no pod,
	// claim or object.
	ReasonRenderFailed = "RenderFailed"
	// ReasonObjectShared: an object that a template describes belongs to another set.
	ReasonObjectShared = "ObjectShared"
	// ReasonObjectExists: an object that is not the set's has the name of one that a template
	// describes, and the template does not let it be used.
	ReasonObjectExists = "ObjectExists"
	// ReasonGeneratedSecretMissing: a Secret that was drawn is gone, or lacks a key, and is not drawn
	// again, because there may be data that was written with it.
	ReasonGeneratedSecretMissing = "GeneratedSecretMissing"
	// ReasonClaimsNotMounted: a pod does not mount the claims of its member.
	ReasonClaimsNotMounted = "ClaimsNotMounted"
	// ReasonClaimGrowthRefused: a claim cannot become as its template describes.
	ReasonClaimGrowthRefused = "ClaimGrowthRefused"
	// ReasonClaimTemplateInUse: a member is to be created at a revision that mounts what is
	// neither a claim template nor a volume.
	ReasonClaimTemplateInUse = "ClaimTemplateInUse"
	// ReasonInPlaceImpossible: members cannot be updated in place, and the set allows no
	// other way.
	ReasonInPlaceImpossible = "InPlaceImpossible"
	// ReasonMissingRight: the controller lacks a right that the set needs.
	ReasonMissingRight = "MissingRight"
	// ReasonRolloutFailed: an update has failed, or was aborted, and goes no further.
	ReasonRolloutFailed = "RolloutFailed"
	// ReasonRolledBack: an update was rolled back. It is not tried again before the set gets
	// another template.
	ReasonRolledBack = "RolledBack"
	// ReasonEvaluationStopped: processes of the controller ended while they evaluated expressions of the
	// set, so that these are not evaluated any more.
	ReasonEvaluationStopped = "EvaluationStopped"
	// ReasonRevisionUnreadable: the record of a revision cannot be read.
	ReasonRevisionUnreadable = "RevisionUnreadable"
)

// Reasons in status.rollout.failure.
const (
	// RolloutConditionFalse: a pod condition that a step asks for is False.
	RolloutConditionFalse = "PodConditionFalse"
	// RolloutDeadlineExceeded: a member that the update has reached is not available, and
	// nothing has become better for spec.progressDeadlineSeconds.
	RolloutDeadlineExceeded = "ProgressDeadlineExceeded"
)
