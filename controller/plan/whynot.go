// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// Due is a desired member that must be changed, but not in this sync.
type Due struct {
	Ordinal int
	// Revision is that of its pod, and Target the revision that it should have.
	Revision, Target string
	// WhyNot is the reason why it is not the turn of the member, and Message says it in a sentence.
	WhyNot  v1.PlanWhyNot
	Message string
}

// NotNext are the members of a world that must be changed but are not changed by its plan, in the
// order of the update, up to a limit: the user of a plan wants to know which members it leaves out.
func NotNext(world World, most int) (due []Due) {
	if identity.IsSetAside(world.Set) {
		return nil
	}
	reads := &reader{known: world.Records}
	f := survey(world, reads)
	if f.badSelector != nil || f.update == nil || f.world.Set.DeletionTimestamp != nil {
		return nil
	}
	d, barrier := decide(f, reads), f.barrier()
	for m := range f.inUpdateOrder() {
		if len(due) == most {
			return due
		}
		if !f.isDifferent(m) || d.goesNext(m) {
			continue
		}
		word, message := f.whyNot(d, barrier, m)
		due = append(due,
			Due{Ordinal: m.ordinal, Revision: words.Foreign(revisionOf(m.pod)), Target: f.destination().name, WhyNot: word, Message: message})
	}
	return due
}

// isDifferent reports whether the pod of a member, unless it is ending or restarting, differs from
// a pod that would be created now.
func (f *facts) isDifferent(m member) bool {
	return m.pod != nil && !isTerminating(m.pod) && !isFinished(m.pod) && !isRestarting(m.pod) &&
		(revisionOf(m.pod) != f.destination().name || f.misshapen(m))
}

// goesNext reports whether the plan changes the pod of the member or removes it.
func (d *draft) goesNext(m member) bool {
	for _, chain := range d.chains {
		if podsOf(chain, m) {
			return true
		}
	}
	return false
}

// podsOf reports whether actions remove the pod of a member, or change it in place.
func podsOf(actions []action.Action, m member) bool {
	for _, act := range actions {
		if podOf(act).UID == m.pod.UID && (removes([]action.Action{act}) || changesInPlace([]action.Action{act})) {
			return true
		}
	}
	return false
}

// whyNot says what keeps a member from being changed now: first a reason of the whole set, then one
// of this member, and finally a lack of budget.
func (f *facts) whyNot(d *draft, last *barrier, m member) (word v1.PlanWhyNot, message string) {
	for _, why := range []func(*draft, *barrier, member) (v1.PlanWhyNot, string){f.whyAtRest, f.whyNotReached, f.whyImpossible, f.whyLater} {
		if word, message = why(d, last, m); word != "" {
			return word, message
		}
	}
	most := f.maxUnavailable()
	return v1.PlanWhyNotBudget, fmt.Sprintf("unavailable members: %d allowed, %d now or after this sync", most, most-d.purse.open)
}

// whyAtRest says why no member of the set is changed, if that is the case.
func (f *facts) whyAtRest(_ *draft, _ *barrier, _ member) (v1.PlanWhyNot, string) {
	switch {
	case f.frozen():
		return v1.PlanWhyNotHeld, "the set is suspended, or waits for its revisions"
	case f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType:
		return v1.PlanWhyNotOnDelete, "the update strategy is OnDelete: delete the pod to have it recreated"
	case f.paused():
		return v1.PlanWhyNotPaused, "the update is paused"
	case f.isAborted() && !f.rollsBack():
		return v1.PlanWhyNotAborted, f.whoAborted() + " has aborted the update"
	default:
		return "", ""
	}
}

// whyNotReached says why the update leaves the member alone, for good or for now, if it does.
func (f *facts) whyNotReached(_ *draft, _ *barrier, m member) (v1.PlanWhyNot, string) {
	switch _, how := f.target(m); {
	case !f.isAbovePartition(m):
		return v1.PlanWhyNotPartition, fmt.Sprintf("the partition excludes the first %d ordinals from the update", f.partition())
	case how != keep:
		return "", ""
	case f.rollout != nil && f.rollout.at.inSteps:
		return v1.PlanWhyNotStepQuota,
			fmt.Sprintf("step %d/%d of the update reaches %d of %d members", f.rollout.at.number, len(f.steps()), f.rollout.at.quota, f.roster.Len())
	default:
		return v1.PlanWhyNotStepQuota, "the update has yet to be recorded"
	}
}

// whyImpossible says why the member could not be recreated, or not in a way that the set allows, if
// that is the case.
func (f *facts) whyImpossible(d *draft, _ *barrier, m member) (v1.PlanWhyNot, string) {
	told := &draft{reads: d.reads, pods: d.pods, changes: d.changes}
	switch {
	case !returnable(f, told, m):
		return v1.PlanWhyNotNotReturnable, told.waitingFor()
	case awaitsClaims(f, told, m):
		return v1.PlanWhyNotClaimGrowth, told.waitingFor()
	case f.isForbidden(told, m):
		return v1.PlanWhyNotInPlaceImpossible, told.waitingFor()
	default:
		return "", ""
	}
}

// whyLater says what the member waits for.
func (f *facts) whyLater(d *draft, last *barrier, m member) (v1.PlanWhyNot, string) {
	switch {
	case f.isFailing():
		return v1.PlanWhyNotFailed, "the update has failed, and changes only broken members from now on"
	case d.out[m.pod.UID]:
		return v1.PlanWhyNotDraining, d.waitingFor()
	case f.taken(m) || d.changesPod(m):
		return v1.PlanWhyNotGate, "waiting for its disruption gates"
	case last.holds(m):
		return v1.PlanWhyNotOrder, "it is last (" + f.mark(m) + "); waiting for " + f.podName(last.awaited)
	case !d.updates:
		return v1.PlanWhyNotPredecessor, d.waitingFor()
	case f.mindsBudgets(m.pod) && d.unseenByBudgets(f) != "":
		return v1.PlanWhyNotBudget, "waiting for the PodDisruptionBudget to observe that pod " + d.unseenByBudgets(f) + " is not ready"
	default:
		return "", ""
	}
}
