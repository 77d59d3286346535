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

// add lists a round, and reports false if not all of it finds room. A round in which
// nothing is done and nothing new is said is left out, but for the first one.
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

// notNext lists, in the last round, the members that are left out in a world.
func (l *list) notNext(world plan.World) {
	last := &l.plan.Rounds[len(l.plan.Rounds)-1]
	last.Members = nil
	for _, due := range plan.NotNext(world, MostMembers) {
		last.Members = append(last.Members,
			v1.PlanMember{Ordinal: int32(due.Ordinal), Revision: due.Revision, Target: due.Target, WhyNot: due.WhyNot, Message: due.Message})
	}
}

// then notes what the host answers the last round with.
func (l *list) then(happened []string) {
	last := &l.plan.Rounds[len(l.plan.Rounds)-1]
	last.ExpectedEvents = append(last.ExpectedEvents, happened...)
}

// seconds is the delay until the next look, rounded up, nil if there is none. A longer one than the
// field holds is as long as it holds.
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
		shown.Revision, shown.Message = a.Pod.Labels[identity.RevisionLabel], "the member has no pod"
	case action.CreateClaims:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanCreateClaims, ordinal(a.Ordinal), names(a.Claims)
		shown.Message = "the member's pod cannot start without them"
	case action.SetClaimOwners:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanSetClaimOwners, ordinal(a.Ordinal), []string{a.Claim.Name}
		shown.Message = "the retention policy asks for it"
	case action.UpdateClaim:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanUpdateClaim, ordinal(a.Ordinal), []string{a.Claim.Name}
		shown.Message = "its template describes it so"
	case action.MarkClaim:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanMarkClaim, ordinal(a.Ordinal), []string{a.Claim.Name}
		shown.Message = "whether it is deleted, and when, rests on that"
		if a.As == action.ClaimGiven {
			shown.Message = "its data may be written with these Secrets from now on, so they are never drawn again"
		}
	case action.DeleteClaim:
		shown.Type, shown.Ordinal, shown.Claims = v1.PlanDeleteClaim, ordinal(a.Ordinal), []string{a.Claim.Name}
		shown.Message = "its member was removed long enough ago"
	case action.CreateObject:
		shown.Type, shown.Ordinal, shown.Message = v1.PlanCreateObject, memberOrdinal(a.Ordinal),
			"template "+a.Template+" describes it, and it does not exist"
		if len(a.Generate) > 0 {
			shown.Message += "; its random texts are drawn then"
		}
	case action.ApplyObject:
		shown.Type, shown.Ordinal, shown.Message = v1.PlanApplyObject, memberOrdinal(a.Ordinal), a.Why
	case action.MarkObject:
		shown.Type, shown.Ordinal, shown.Message = v1.PlanMarkObject, memberOrdinal(a.Ordinal), "whether it is deleted, and when, rests on that"
	case action.CreateAnchor:
		shown.Type, shown.Revision, shown.Message = v1.PlanCreateAnchor, a.Anchor.Name, "objects that are deleted with the set belong to it"
	case action.OwnAnchor:
		shown.Type, shown.Revision, shown.Message = v1.PlanOwnAnchor, a.Anchor.Name, "the set has been taken from its owners"
	case action.SetObjectOwners:
		shown.Type, shown.Ordinal, shown.Message = v1.PlanSetObjectOwners, ordinal(a.Ordinal), "whether it is deleted with the set rests on that"
	case action.DeleteObject:
		why := "its member was removed long enough ago"
		if a.Unused != "" {
			why = "its template was removed, and nothing has needed it for long enough"
		}
		shown.Type, shown.Ordinal, shown.Message = v1.PlanDeleteObject, memberOrdinal(a.Ordinal),
			why+": it is due since "+a.Due.UTC().Format(time.RFC3339)
	case action.RepairPod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanRepairPod, ordinal(a.Ordinal), a.Pod.Name,
			"labels of its identity are missing"
	case action.PatchPod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanPatchPod, ordinal(a.Ordinal), a.Pod.Name,
			"its labels and annotations say what is done with it"
		if a.Minor {
			shown.Message = "it names REPLICAS, and is told without a restart: " + a.What
		}
	case action.SetPodConditions:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanSetPodConditions, ordinal(a.Ordinal), a.Pod.Name,
			"others read there what is done with it"
	case action.DeletePod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanDeletePod, ordinal(a.Ordinal), a.Pod.Name, inTurn(reasonToDelete(a), a.Turn)
	case action.UpdateInPlace:
		shown.Type, shown.Ordinal, shown.Pod, shown.Revision, shown.Message = v1.PlanUpdateInPlace, ordinal(a.Ordinal), a.Pod.Name, a.Revision,
			inTurn("it does not run the present revision", a.Turn)
	case action.ResizePod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanResizePod, ordinal(a.Ordinal), a.Pod.Name,
			"the revision that it has got gives its containers other resources"
	case action.EndInPlace:
		shown.Type, shown.Ordinal, shown.Pod, shown.Revision, shown.Message = v1.PlanEndInPlace, ordinal(a.Ordinal), a.Pod.Name, a.Revision,
			"its containers have all that the revision gives them"
	case action.AdoptPod:
		shown.Type, shown.Ordinal, shown.Pod, shown.Message = v1.PlanAdoptPod, ordinal(a.Ordinal), a.Pod.Name,
			"nobody controls it, and it is a member by name and labels"
	case action.ReleasePod:
		shown.Type, shown.Pod, shown.Message = v1.PlanReleasePod, a.Pod.Name, "its name or labels are no longer those of a member"
	case action.CreateRevision:
		shown.Type, shown.Revision, shown.Message = v1.PlanCreateRevision, a.Revision.Name, "the template is new"
	case action.RaiseRevision:
		shown.Type, shown.Revision, shown.Message = v1.PlanRaiseRevision, a.Revision.Name, "the template is that of an earlier revision again"
	case action.AdoptRevision:
		shown.Type, shown.Revision, shown.Message = v1.PlanAdoptRevision, a.Revision.Name, "nobody controls it, and it matches the set"
	case action.DeleteRevision:
		shown.Type, shown.Revision, shown.Message = v1.PlanDeleteRevision, a.Revision.Name, "no member runs it, and the history is full"
	}
	return shown
}

// inTurn is a reason, and why it is the member's turn, if that is not for its ordinal.
func inTurn(reason, turn string) string {
	if turn != "" {
		reason += "; " + turn
	}
	return reason
}

func reasonToDelete(a action.DeletePod) string {
	switch a.Reason {
	case action.DeleteForScaleDown:
		return "the set does not want the member any more"
	case action.DeleteForUpdate:
		return "it does not run the present revision"
	case action.DeleteForRollback:
		return "the update that it was brought to is rolled back"
	case action.DeleteMisshapen:
		return "it does not mount the claims of the present templates"
	case action.DeleteForOverride:
		if a.Override == "" {
			return "it has an override that its member is not to have any more"
		}
		return "override " + a.Override
	case action.DeleteUnready:
		return "it is not ready, and not at the revision that it is to have"
	case action.DeleteAsked:
		return "somebody has asked for its member to be replaced"
	case action.DeleteUnresized:
		return "its containers should have been resized in place by now, and are not"
	case action.DeleteUnrestarted:
		return "its containers should have been restarted in place by now, and are not"
	default:
		return "it has ended, and is recreated"
	}
}

// memberOrdinal is the ordinal of a member, none if something is the set's.
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
