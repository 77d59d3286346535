// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// DelayedMember is a desired member that must be changed, but not in this sync.
type DelayedMember struct {
	Ordinal int
	// Revision is that of its pod, and Target the revision that it should have.
	Revision, Target string
	// WhyNot is the reason why it is not the turn of the member, and Message says it in a sentence.
	WhyNot  v1.PlanWhyNot
	Message string
}

// DelayedMembers are the members of a world that must be changed but are not changed by its plan,
// in the order of the update, up to a limit. The user of a plan wants to know which members it
// leaves out.
func DelayedMembers(world World, most int) (due []DelayedMember) {
	if identity.IsEvaluationStopped(world.Set) {
		return nil
	}
	reads := &reader{known: world.Cache}
	f := survey(world, reads)
	if f.badSelector != nil || f.update == nil || f.world.Set.DeletionTimestamp != nil {
		return nil
	}
	d := newDraft(f, reads)
	d.skips = map[int]skip{}
	d.decide(f)
	for m := range f.inUpdateOrder() {
		if len(due) == most {
			return due
		}
		if !f.isDifferent(m) || d.updatesMember(m) {
			continue
		}
		skip := d.skipOf(f, m)
		due = append(due, DelayedMember{Ordinal: m.ordinal, Revision: words.Sanitize(revisionOf(m.pod)), Target: f.destination().name,
			WhyNot: skip.why, Message: skip.message})
	}
	return due
}

// skipOf is why a member is not changed. If no rule has recorded a reason, no rule about updates
// has reached the member: an earlier rule waits for another member.
func (d *draft) skipOf(f *facts, m member) skip {
	s, recorded := d.skips[m.ordinal]
	switch {
	case !recorded:
		return skip{v1.PlanWhyNotPredecessor, d.waitingFor()}
	case s.why == v1.PlanWhyNotBudget: // the budget that is left is known when all rules have decided
		most := f.maxUnavailable()
		s.message = cmp.Or(s.message, fmt.Sprintf("unavailable members: %d allowed, %d now or after this sync", most, most-d.budget.remaining))
	}
	return s
}

// isDifferent reports whether the pod of a member, unless it is ending or restarting, differs from
// a pod that would be created now.
func (f *facts) isDifferent(m member) bool {
	return m.pod != nil && !isTerminating(m.pod) && !isFinished(m.pod) && !isRestarting(m.pod) &&
		(revisionOf(m.pod) != f.destination().name || f.hasOtherClaimsOrOverride(m))
}

// updatesMember reports whether the plan changes the pod of the member or removes it.
func (d *draft) updatesMember(m member) bool {
	for _, chain := range d.chains {
		if updatesPod(chain, m) {
			return true
		}
	}
	return false
}

// updatesPod reports whether actions remove the pod of a member, or change it in place.
func updatesPod(actions []action.Action, m member) bool {
	for _, act := range actions {
		if podOf(act).UID == m.pod.UID && (removes([]action.Action{act}) || changesInPlace([]action.Action{act})) {
			return true
		}
	}
	return false
}

// skipUnreached records why the update does not reach members, for good or for now. It decides
// nothing.
func skipUnreached(f *facts, d *draft) verdict {
	if !d.explains() || f.update == nil {
		return proceed
	}
	for _, m := range f.members {
		if !f.isDifferent(m) {
			continue
		}
		if why, message := f.whyAtRest(); why != "" {
			d.skip(m, why, message)
		} else if why, message = f.whyNotReached(m); why != "" {
			d.skip(m, why, message)
		}
	}
	return proceed
}

// whyAtRest says why no member of the set is changed, if that is the case.
func (f *facts) whyAtRest() (v1.PlanWhyNot, string) {
	switch {
	case f.isFrozen():
		return v1.PlanWhyNotHeld, "the set is suspended, or waits for its revisions"
	case f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType:
		return v1.PlanWhyNotOnDelete, "the update strategy is OnDelete: delete the pod to have it recreated"
	case f.isPaused():
		return v1.PlanWhyNotPaused, "the update is paused"
	case f.isAborted() && !f.isRollingBack():
		return v1.PlanWhyNotAborted, f.whoAborted() + " has aborted the update"
	default:
		return "", ""
	}
}

// whyNotReached says why the update leaves the member alone, for good or for now, if it does.
func (f *facts) whyNotReached(m member) (v1.PlanWhyNot, string) {
	switch _, how := f.target(m); {
	case !f.isAbovePartition(m):
		return v1.PlanWhyNotPartition, fmt.Sprintf("the partition excludes the first %d ordinals from the update", f.partition())
	case how != keep:
		return "", ""
	case f.rollout != nil && f.rollout.progress.inSteps:
		return v1.PlanWhyNotStepQuota,
			fmt.Sprintf("step %d/%d of the update reaches %d of %d members", f.rollout.progress.number, len(f.steps()),
				f.rollout.progress.quota, f.roster.Len())
	default:
		return v1.PlanWhyNotStepQuota, "the update has yet to be recorded"
	}
}
