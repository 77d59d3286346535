// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// list collects the rounds of a plan, up to the limits.
type list struct {
	plan    *v1.StatefulSetPlan
	actions int
	claims  int
}

// add lists a round, and reports false if the limits leave no room for a part of it. A round
// without actions and new warnings is left out, except for the first one.
func (l *list) add(p plan.Plan) bool {
	if len(l.plan.Rounds) == MostRounds {
		return false
	}
	round := v1.PlanRound{
		WaitingFor:          p.Waiting,
		Unavailable:         int32(min(p.Unavailable, math.MaxInt32)),
		MaxUnavailable:      int32(min(p.MaxUnavailable, math.MaxInt32)),
		RequeueAfterSeconds: seconds(p),
	}
	for _, w := range p.Warnings {
		round.Warnings = append(round.Warnings, v1.PlanWarning{Reason: w.Reason, Message: w.Message})
	}
	all := l.addSteps(&round, p.Steps())
	if len(l.plan.Rounds) == 0 || len(round.Steps)+len(round.Warnings) > 0 {
		l.plan.Rounds = append(l.plan.Rounds, round)
	}
	l.plan.Truncated = !all
	return all
}

func (l *list) addSteps(round *v1.PlanRound, steps []action.Step) bool {
	for _, step := range steps {
		var shown v1.PlanStep
		for _, act := range step {
			described := describe(act)
			if l.actions == MostActions || l.claims+len(described.Claims) > MostClaims {
				break
			}
			l.actions++
			l.claims += len(described.Claims)
			shown.Actions = append(shown.Actions, described)
		}
		if len(shown.Actions) > 0 {
			round.Steps = append(round.Steps, shown)
		}
		if len(shown.Actions) < len(step) {
			return false
		}
	}
	return true
}

// addDelayed lists, in the last round, the members of a world that must be changed but are not
// changed yet.
func (l *list) addDelayed(world plan.World) {
	last := &l.plan.Rounds[len(l.plan.Rounds)-1]
	last.Members = nil
	for _, due := range plan.DelayedMembers(world, MostMembers) {
		last.Members = append(last.Members,
			v1.PlanMember{Ordinal: int32(due.Ordinal), Revision: due.Revision, Target: due.Target, WhyNot: due.WhyNot, Message: due.Message})
	}
}

// then records the expected events in the last round.
func (l *list) then(happened []string) {
	last := &l.plan.Rounds[len(l.plan.Rounds)-1]
	last.ExpectedEvents = append(last.ExpectedEvents, happened...)
}

// seconds is the delay until the next sync, rounded up, nil if there is none. It is at most the
// largest value of the field.
func seconds(p plan.Plan) *int32 {
	if p.RequeueAfter <= 0 {
		return nil
	}
	return new(int32(min(math.Ceil(p.RequeueAfter.Seconds()), math.MaxInt32)))
}

// describe says what an action does, and why.
func describe(act action.Action) v1.PlanAction { //nolint:gocyclo // a case for each kind of action
	shown := v1.PlanAction{Description: act.String()}
	switch a := act.(type) {
	case action.CreateMember:
		shown.Type, shown.Ordinal, shown.Pod, shown.Claims = v1.PlanCreateMember, ordinal(a.Ordinal), a.Pod.Name, names(a.Claims)
		shown.Revision, shown.Message = a.Pod.Labels[identity.RevisionLabel], "the pod is missing"
	case action.CreateClaims:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanCreateClaims, ordinal(a.Ordinal), names(a.Claims)
		shown.Message = "the member's pod cannot start without them"
	case action.SetClaimOwners:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanSetClaimOwners, ordinal(a.Ordinal), []string{a.Claim.Name}
		shown.Message = "the retention policy requires it"
	case action.UpdateClaim:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanUpdateClaim, ordinal(a.Ordinal), []string{a.Claim.Name}
		shown.Message = "the claim differs from its template"
	case action.MarkClaim:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanMarkClaim, ordinal(a.Ordinal), []string{a.Claim.Name}
		shown.Message = "the annotation decides whether and when it is deleted"
		if a.As == action.ClaimUsesSecrets {
			shown.Message = "its data may depend on these Secrets from now on, so they are never generated again"
		}
	case action.DeleteClaim:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanDeleteClaim, ordinal(a.Ordinal), []string{a.Claim.Name}
		shown.Message = "its member was removed long enough ago"
	case action.CreateObject:
		shown.Type, shown.Ordinal, shown.Message = v1.PlanCreateObject, memberOrdinal(a.Ordinal),
			"the object of template "+a.Template+" does not exist"
		if len(a.Generate) > 0 {
			shown.Message += "; its random values are generated when it is created"
		}
	case action.ApplyObject:
		shown.Type, shown.Ordinal, shown.Message = v1.PlanApplyObject, memberOrdinal(a.Ordinal), a.Why
	case action.MarkObject:
		shown.Type, shown.Ordinal, shown.Message = v1.PlanMarkObject, memberOrdinal(a.Ordinal),
			"the annotation decides whether and when it is deleted"
	case action.CreateAnchor:
		shown.Type, shown.Revision, shown.Message = v1.PlanCreateAnchor, a.Anchor.Name, "it owns the objects that are deleted with the set"
	case action.OwnAnchor:
		shown.Type, shown.Revision, shown.Message = v1.PlanOwnAnchor, a.Anchor.Name, "the set is missing in its owner references"
	case action.SetObjectOwners:
		shown.Type, shown.Ordinal, shown.Message = v1.PlanSetObjectOwners, ordinal(a.Ordinal),
			"the owners decide whether it is deleted with the set"
	case action.DeleteObject:
		why := "its member was removed long enough ago"
		if a.Unused != "" {
			why = "its template was removed, and nothing has needed it for long enough"
		}
		shown.Type, shown.Ordinal, shown.Message = v1.PlanDeleteObject, memberOrdinal(a.Ordinal),
			why+": it has been due since "+a.Due.UTC().Format(time.RFC3339)
	case action.RepairPod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanRepairPod, ordinal(a.Ordinal), a.Pod.Name,
			"labels that identify its member are missing"
	case action.PatchPod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanPatchPod, ordinal(a.Ordinal), a.Pod.Name,
			"labels and annotations record what happens to the pod"
		if a.Minor {
			shown.Message = "the pod uses REPLICAS, which changes without a restart: " + a.What
		}
	case action.SetPodConditions:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanSetPodConditions, ordinal(a.Ordinal), a.Pod.Name,
			"conditions show other programs what happens to the pod"
	case action.DeletePod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanDeletePod, ordinal(a.Ordinal), a.Pod.Name, inTurn(reasonToDelete(a), a.Turn)
	case action.UpdateInPlace:
		shown.Type, shown.Ordinal, shown.Pod, shown.Revision, shown.Message = v1.PlanUpdateInPlace, ordinal(a.Ordinal), a.Pod.Name, a.Revision,
			inTurn("the pod is outdated", a.Turn)
	case action.ResizePod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanResizePod, ordinal(a.Ordinal), a.Pod.Name,
			"its revision gives its containers other resources"
	case action.EndInPlace:
		shown.Type, shown.Ordinal, shown.Pod, shown.Revision, shown.Message = v1.PlanEndInPlace, ordinal(a.Ordinal), a.Pod.Name, a.Revision,
			"its containers match its revision"
	case action.AdoptPod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanAdoptPod, ordinal(a.Ordinal), a.Pod.Name,
			"it has no controller, and its name and labels are those of a member"
	case action.ReleasePod:
		shown.Type, shown.Pod, shown.Message = v1.PlanReleasePod, a.Pod.Name, "its name or labels are no longer those of a member"
	case action.CreateRevision:
		shown.Type, shown.Revision, shown.Message = v1.PlanCreateRevision, a.Revision.Name, "the template is new"
	case action.RaiseRevision:
		shown.Type, shown.Revision, shown.Message = v1.PlanRaiseRevision, a.Revision.Name, "the template matches an earlier revision again"
	case action.AdoptRevision:
		shown.Type, shown.Revision, shown.Message = v1.PlanAdoptRevision, a.Revision.Name, "it has no controller, and it matches the set"
	case action.DeleteRevision:
		shown.Type, shown.Revision, shown.Message = v1.PlanDeleteRevision, a.Revision.Name, "no member runs it, and the history is full"
	}
	return shown
}

// inTurn is a reason, with the reason for the member's turn if that is not only its ordinal.
func inTurn(reason, turn string) string {
	if turn != "" {
		reason += "; " + turn
	}
	return reason
}

func reasonToDelete(a action.DeletePod) string {
	switch a.Reason {
	case action.DeleteForScaleDown:
		return "the member is surplus"
	case action.DeleteForUpdate:
		return "the pod is outdated"
	case action.DeleteForRollback:
		return "its update is being rolled back"
	case action.DeleteForClaims:
		return "it does not mount the claims of the current claim templates"
	case action.DeleteForOverride:
		if a.Override == "" {
			return "it has an override that no longer applies to its member"
		}
		return "override " + a.Override
	case action.DeleteUnready:
		return "the pod is not ready, and outdated"
	case action.DeleteOnRequest:
		return "a user requested the replacement"
	case action.DeleteUnresized:
		return "its containers should have been resized in place by now, but are not"
	case action.DeleteUnrestarted:
		return "its containers should have been restarted in place by now, but are not"
	default:
		return "it has finished, and is recreated"
	}
}

// memberOrdinal is the ordinal of a member, nil if an object belongs to the set.
func memberOrdinal(n int) *int32 {
	if n < 0 {
		return nil
	}
	return ordinal(n)
}

func ordinal(n int) *int32 { return new(int32(n)) }

func names(claims []*corev1.PersistentVolumeClaim) []string {
	var all []string
	for _, claim := range claims {
		all = append(all, claim.Name)
	}
	return all
}
