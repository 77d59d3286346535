// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// rollOut removes pods of an old revision, from the highest ordinal down to the
// partition or in the order that the set asks for, as long as no more than maxUnavailable
// members are unavailable. They come back at the new revision when they are gone. Pods
// that are changed in place instead have the same turn. In an ordered set one that cannot
// be updated, or not yet, holds up those after it.
func rollOut(f *facts, d *draft) verdict {
	d.updates = true
	if !f.rolls() || d.repairing {
		return proceed
	}
	t, barrier := &turns{failing: f.isFailing()}, d.barrier(f)
	var updates []action.Action
	for m := range f.inUpdateOrder() {
		switch _, how := f.target(m); {
		case how != recreate && how != mend, isRestarting(m.pod):
		case barrier.holds(m):
			d.giveUp(f, m)
		default:
			updates = append(updates, t.take(f, d, m, how)...)
		}
	}
	if !t.stopped && !t.failing {
		barrier.tell(f, d)
	}
	if f.ordered {
		d.inOrder(updates...)
	} else {
		d.each(updates...)
	}
	return proceed
}

// turns is how far an update may go in one look.
type turns struct {
	// failing: the update has failed, so that it takes no more members that serve.
	failing bool
	// stopped: all members wait for one before them. short: one waits until fewer members are
	// unavailable, and those after it that would cost nothing wait, too.
	stopped, short bool
}

// take is what brings a member to what it is to have, nothing if that is not to be now.
func (t *turns) take(f *facts, d *draft, m member, how method) []action.Action {
	switch {
	case how == mend:
		return removeUnready(f, d, m)
	case isHeld(f, d, m):
		t.refuse(f, d, m)
	case servesNobody(m.pod):
		return replaceBroken(f, d, m)
	case t.failing:
		d.giveUp(f, m)
	case t.stopped:
	case f.isRelabelled(d, m):
		if !t.short {
			return replaceMember(f, d, m)
		}
	case !d.purse.affords(f, m):
		t.short = true
	case f.isForbidden(d, m):
		t.refuse(f, d, m)
	default:
		d.purse.pay(f, m)
		return replaceMember(f, d, m)
	}
	return nil
}

// refuse takes back what was asked about a member that cannot be updated. In an ordered set
// those after it wait for it.
func (t *turns) refuse(f *facts, d *draft, m member) {
	d.giveUp(f, m)
	t.stopped = t.stopped || f.ordered
}

// rolls reports whether the set's members are updated one after the other, and nothing rests.
func (f *facts) rolls() bool {
	return f.world.Set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType && !f.rests()
}

// isFailing reports whether the update has failed, so that it takes no more members that serve.
func (f *facts) isFailing() bool {
	return f.rollout != nil && f.rollout.at.failure != nil && !f.rollsBack()
}

// servesNobody reports whether an old pod is not one to be taken from service: it is not there to
// serve any more, or it is broken.
func servesNobody(pod *corev1.Pod) bool {
	return isBroken(pod) || isTerminating(pod) || isFinished(pod)
}

// isHeld reports whether an outdated pod is kept, because the next one could not be created, or
// because its claims have not been changed yet and it serves.
func isHeld(f *facts, d *draft, m member) bool {
	return !isTerminating(m.pod) && (!returnable(f, d, m) || d.waitForOwners(f, m) || awaitsClaims(f, d, m))
}

// replaceBroken removes an old pod that serves nobody anyhow: that costs no budget,
// and it must not keep a set from an update that repairs it. One that is ready, and
// only not for long enough, does not count as broken: all members would, if the clock
// were set back. An ordered set never gets here, because it waits for its members to
// be available first.
func replaceBroken(f *facts, d *draft, m member) []action.Action {
	if isTerminating(m.pod) || isFinished(m.pod) {
		return nil
	}
	return replaceMember(f, d, m)
}

// replaceMember is what brings a member to what it is to have: the removal of its pod, or a
// change of it, or before that a question to its gates.
func replaceMember(f *facts, d *draft, m member) []action.Action {
	removal := f.removalOf(m)
	update := inPlaceOr(f, d, m, removal)
	switch {
	case changesInPlace(update):
		d.wait("pod %s is being updated in place to revision %s", m.pod.Name, f.goal(m).name)
	case !removes(update):
		return update
	case removal.Reason == action.DeleteMisshapen:
		d.wait("pod %s is being replaced by one that mounts the claims of the present templates", m.pod.Name)
	case removal.Reason == action.DeleteForOverride:
		d.wait("pod %s is being replaced by one %s", m.pod.Name, f.overrideText(m))
	default:
		d.wait("pod %s is being replaced at revision %s", m.pod.Name, f.goal(m).name)
	}
	if removal.Reason == action.DeleteForUpdate && revisionOf(m.pod) == f.current.name {
		d.replaced++
	}
	return update
}

// removalOf says of the removal of a member that is to be recreated what its pod has otherwise
// than it is to have, and why it is the member's turn.
func (f *facts) removalOf(m member) action.DeletePod {
	removal := action.DeletePod{Reason: action.DeleteForUpdate, Turn: f.turnOf(m)}
	switch {
	case revisionOf(m.pod) != f.goal(m).name && f.rollsBack():
		removal.Reason = action.DeleteForRollback
	case revisionOf(m.pod) != f.goal(m).name:
	case f.hasOtherClaims(m):
		removal.Reason = action.DeleteMisshapen
	default:
		removal.Reason, removal.Override = action.DeleteForOverride, f.dueOverride(m)
	}
	return removal
}

// maxUnavailable is how many members may be unavailable during an update, at
// least one: a share that rounds down to none would never get anywhere.
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
