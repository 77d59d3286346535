// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// updateMembers removes outdated pods, from the highest ordinal down to the partition or in the
// order that the set requests, as long as no more than maxUnavailable members are unavailable.
// After their termination, the members are recreated at the update revision. Pods that are changed
// in place instead follow the same order. In an ordered set, a member that cannot be updated, or
// not yet, blocks those after it.
func updateMembers(f *facts, d *draft) verdict {
	if !f.isRolling() || d.repairing {
		return proceed
	}
	t, barrier := &turns{failing: f.isFailing()}, d.barrier(f)
	var updates []action.Action
	for m := range f.inUpdateOrder() {
		switch _, how := f.target(m); {
		case how != recreate && how != recreateBroken, isRestarting(m.pod):
		case barrier.blocks(m):
			barrier.skip(f, d, m)
			d.postpone(f, m)
		default:
			updates = append(updates, t.take(f, d, m, how)...)
		}
	}
	if !t.stopped && !t.failing {
		barrier.report(f, d)
	}
	if f.ordered {
		d.addChain(updates...)
	} else {
		d.add(updates...)
	}
	return proceed
}

// turns is how far an update may go in one sync.
type turns struct {
	// failing: the update has failed, so it changes no more members that are not broken.
	failing bool
	// stopped: all further members wait for an earlier one. short: a member waits until fewer
	// members are unavailable, and so do later members that need no budget.
	stopped, short bool
}

// take is what brings a member to its target, nothing if that must not happen now.
func (t *turns) take(f *facts, d *draft, m member, how method) []action.Action {
	switch {
	case how == recreateBroken:
		return removeUnready(f, d, m)
	case cannotReplace(f, d, m):
		t.refuse(f, d, m)
	case isNotServing(m.pod):
		return replaceBroken(f, d, m)
	case t.failing:
		d.skip(m, v1.PlanWhyNotFailed, "the update has failed, and changes only broken members from now on")
		d.postpone(f, m)
	case t.stopped:
		d.skip(m, v1.PlanWhyNotPredecessor, d.waitingFor())
	case f.isRelabelled(d, m):
		if !t.short {
			return replaceMember(f, d, m)
		}
		d.skip(m, v1.PlanWhyNotBudget, "")
	case !d.budget.allows(f, m):
		t.short = true
		d.skip(m, v1.PlanWhyNotBudget, "")
	case f.isForbidden(d, m):
		t.refuse(f, d, m)
	default:
		d.budget.spend(f, m)
		return replaceMember(f, d, m)
	}
	return nil
}

// refuse withdraws the requests to the gates of a member that cannot be updated. In an ordered set,
// the members after it wait for it.
func (t *turns) refuse(f *facts, d *draft, m member) {
	d.postpone(f, m)
	t.stopped = t.stopped || f.ordered
}

// isRolling reports whether the members of the set are updated one after the other, and the update
// is not blocked.
func (f *facts) isRolling() bool {
	return f.world.Set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType && !f.isRolloutBlocked()
}

// isFailing reports whether the update has failed, so that it changes no more members that are not
// broken.
func (f *facts) isFailing() bool {
	return f.rollout != nil && f.rollout.progress.failure != nil && !f.isRollingBack()
}

// isNotServing reports whether an outdated pod needs no removal from service: it has ended, is
// terminating, or is broken.
func isNotServing(pod *corev1.Pod) bool {
	return isBroken(pod) || isTerminating(pod) || isFinished(pod)
}

// cannotReplace reports whether an outdated pod is kept, because the next one could not be created,
// or because its claims have not been changed yet while it is not broken.
func cannotReplace(f *facts, d *draft, m member) bool {
	switch {
	case isTerminating(m.pod):
		return false
	case !returnable(f, d, m):
		d.skip(m, v1.PlanWhyNotNotReturnable, d.latest)
	case d.waitForOwners(f, m), awaitsClaims(f, d, m):
		d.skip(m, v1.PlanWhyNotClaimGrowth, d.latest)
	default:
		return false
	}
	return true
}

// replaceBroken removes an outdated pod that is unavailable in any case: that needs no budget, and
// the pod must not block an update that repairs it. A pod that is ready, but not for long enough,
// does not count as broken: otherwise all members would be broken after the clock is set back. An
// ordered set never gets here, because it first waits for its members to be available.
func replaceBroken(f *facts, d *draft, m member) []action.Action {
	if isTerminating(m.pod) || isFinished(m.pod) {
		return nil
	}
	return replaceMember(f, d, m)
}

// replaceMember is the next action that brings a member to its target: the removal or the change of
// its pod, or before that a request to its gates.
func replaceMember(f *facts, d *draft, m member) []action.Action {
	removal := f.removalOf(m)
	update := inPlaceOr(f, d, m, removal)
	switch {
	case changesInPlace(update):
		d.wait("pod %s is being updated in place to revision %s", m.pod.Name, f.targetRevision(m).name)
	case !removes(update):
		return update
	case removal.Reason == action.DeleteForClaims:
		d.wait("pod %s is being replaced by one that mounts the claims of the current claim templates", m.pod.Name)
	case removal.Reason == action.DeleteForOverride:
		d.wait("pod %s is being replaced by one %s", m.pod.Name, f.overrideText(m))
	default:
		d.wait("pod %s is being replaced at revision %s", m.pod.Name, f.targetRevision(m).name)
	}
	if removal.Reason == action.DeleteForUpdate && revisionOf(m.pod) == f.current.name {
		d.replaced++
	}
	return update
}

// removalOf is the removal of the pod of a member that is to be recreated. It says in what the pod
// differs from its target, and why it is the turn of the member.
func (f *facts) removalOf(m member) action.DeletePod {
	removal := action.DeletePod{Reason: action.DeleteForUpdate, Turn: f.turnOf(m)}
	switch {
	case revisionOf(m.pod) != f.targetRevision(m).name && f.isRollingBack():
		removal.Reason = action.DeleteForRollback
	case revisionOf(m.pod) != f.targetRevision(m).name:
	case f.hasOtherClaims(m):
		removal.Reason = action.DeleteForClaims
	default:
		removal.Reason, removal.Override = action.DeleteForOverride, f.dueOverride(m)
	}
	return removal
}

// maxUnavailable is how many members may be unavailable during an update. It is at least one: with
// a percentage that rounds down to zero, an update would never make progress.
func (f *facts) maxUnavailable() int {
	rolling := f.world.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.MaxUnavailable == nil {
		return 1
	}
	value, err := intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, f.roster.Len(), false)
	if err != nil {
		return 1
	}
	return max(value, 1)
}

// isPaused reports whether the update is paused, so that no member is recreated for it.
func (f *facts) isPaused() bool {
	rolling := f.rollingUpdate()
	return rolling != nil && rolling.IsPaused()
}

// rollingUpdate is the configuration of rolling updates, nil if the set has another strategy or no
// such configuration.
func (f *facts) rollingUpdate() *v1.RollingUpdateStatefulSetStrategy {
	strategy := &f.world.Set.Spec.UpdateStrategy
	if strategy.Type != v1.RollingUpdateStatefulSetStrategyType {
		return nil
	}
	return strategy.RollingUpdate
}

// pausedText says how many members a paused update has yet to reach, empty if there are none.
func (f *facts) pausedText() string {
	if !f.isPaused() {
		return ""
	}
	count := 0
	for _, m := range f.members {
		if m.pod != nil && f.isAbovePartition(m) && (revisionOf(m.pod) != f.destination().name || f.hasOtherClaimsOrOverride(m)) {
			count++
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return "the update is paused, and 1 member has yet to be updated"
	default:
		return fmt.Sprintf("the update is paused, and %d members have yet to be updated", count)
	}
}
