// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// rollOut removes pods of an old revision, from the highest ordinal down to the
// partition or in the order that the set asks for, as long as no more than maxUnavailable
// members are unavailable. They come back at the new revision when they are gone. Pods
// that are changed in place instead have the same turn. In an ordered set one that cannot
// be updated, or not yet, holds up those after it.
func rollOut(f *facts, d *draft) verdict {
	if f.Set.Spec.UpdateStrategy.Type != v1.RollingUpdateStatefulSetStrategyType || f.rests() || d.repairing {
		return proceed
	}
	t := &turns{budget: f.updateBudget()}
	barrier := f.barrier()
	var updates []Action
	for m := range f.inUpdateOrder() {
		if _, how := f.target(m); (how == recreate || how == mend) && !isRestarting(m.pod) && !barrier.holds(m) {
			updates = append(updates, t.take(f, d, m, how)...)
		}
	}
	barrier.tell(f, d, t.budget)
	if f.ordered {
		d.inOrder(updates...)
	} else {
		d.each(updates...)
	}
	return proceed
}

// updateBudget is how many members that serve may be taken for an update now. One that has
// failed takes no more.
func (f *facts) updateBudget() int {
	if f.rollout != nil && f.rollout.at.failure != nil && !f.rollsBack() {
		return 0
	}
	return f.maxUnavailable() - (f.roster.Len() - f.available)
}

// turns is how far an update may go in one look.
type turns struct {
	// budget is how many more members may be taken from service. Once one has to wait, those
	// after it that would cost nothing wait, too.
	budget int
	waits  bool
}

// take is what brings a member to what it is to have, nothing if that is not to be now.
func (t *turns) take(f *facts, d *draft, m member, how method) []Action {
	switch held := how == recreate && isHeld(f, d, m); {
	case held && f.ordered:
		t.stop()
	case held:
	case how == mend:
		return removeUnready(f, d, m)
	case !isReady(m.pod) || isTerminating(m.pod):
		return replaceBroken(f, d, m)
	case t.waits:
	case t.budget > 0 || f.isRelabelled(d, m):
		update := replaceMember(f, d, m)
		t.budget -= membersTaken(update)
		if f.ordered && len(update) == 0 {
			t.stop()
		}
		return update
	default:
		t.waits = true
	}
	return nil
}

// stop lets those after a member wait for it.
func (t *turns) stop() { t.budget, t.waits = 0, true }

// isHeld reports whether an outdated pod is kept, because the next one could not be made, or
// not as it is to be.
func isHeld(f *facts, d *draft, m member) bool {
	return !isTerminating(m.pod) && (!returnable(f, d, m) || awaitsClaims(f, d, m))
}

// replaceBroken removes an old pod that serves nobody anyhow: that costs no budget,
// and it must not keep a set from an update that repairs it. One that is ready, and
// only not for long enough, does not count as broken: all members would, if the clock
// were set back. An ordered set never gets here, because it waits for its members to
// be available first.
func replaceBroken(f *facts, d *draft, m member) []Action {
	if isTerminating(m.pod) || isFinished(m.pod) {
		return nil
	}
	return replaceMember(f, d, m)
}

// replaceMember is what brings a member to what it is to have: the removal of its pod, or a
// change of it.
func replaceMember(f *facts, d *draft, m member) []Action {
	removal := f.removalOf(m)
	removal.Turn = f.turnOf(m)
	update := inPlaceOr(f, d, m, removal)
	if len(update) == 0 {
		return nil
	}
	_, removed := update[0].(DeletePod)
	switch {
	case removal.Reason == DeleteMisshapen:
		d.wait("pod %s is being replaced by one that mounts the claims of the present templates", m.pod.Name)
	case removal.Reason == DeleteForOverride:
		d.wait("pod %s is being replaced by one %s", m.pod.Name, f.overrideText(m))
	case removed:
		d.wait("pod %s is being replaced at revision %s", m.pod.Name, f.goal(m).name)
	default:
		d.wait("pod %s is being updated in place to revision %s", m.pod.Name, f.goal(m).name)
	}
	if removal.Reason == DeleteForUpdate && revisionOf(m.pod) == f.current.name {
		d.replaced++
	}
	return update
}

// membersTaken is how many members actions take from service.
func membersTaken(actions []Action) (taken int) {
	for _, action := range actions {
		taken += one(takes(action))
	}
	return taken
}

// takes reports whether an action takes a member from service: its pod is removed, or
// containers of it are restarted.
func takes(action Action) bool {
	_, removes := action.(DeletePod)
	update, _ := action.(UpdateInPlace)
	return removes || update.restarts()
}

// removalOf removes the pod of a member that is to be recreated, and says what it has otherwise
// than it is to have.
func (f *facts) removalOf(m member) DeletePod {
	removal := DeletePod{Ordinal: m.ordinal, Pod: exact(m.pod), Reason: DeleteForUpdate}
	switch {
	case revisionOf(m.pod) != f.goal(m).name && f.rollsBack():
		removal.Reason = DeleteForRollback
	case revisionOf(m.pod) != f.goal(m).name:
	case f.hasOtherClaims(m):
		removal.Reason = DeleteMisshapen
	default:
		removal.Reason, removal.Override = DeleteForOverride, f.dueOverride(m)
	}
	return removal
}

// maxUnavailable is how many members may be unavailable during an update, at
// least one: a share that rounds down to none would never get anywhere.
func (f *facts) maxUnavailable() int {
	rolling := f.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.MaxUnavailable == nil {
		return 1
	}
	value, err := intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, f.roster.Len(), false)
	if err != nil {
		return 1
	}
	return max(value, 1)
}
