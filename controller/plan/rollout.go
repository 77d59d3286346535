// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// rollOut removes pods of an old revision, from the highest ordinal down to the
// partition or in the order that the set asks for, as long as no more than maxUnavailable
// members are unavailable. They come back at the new revision when they are gone. In an
// ordered set one that cannot be removed, or not yet, holds up those after it.
func rollOut(f *facts, d *draft) verdict {
	if !f.rolls() || d.repairing {
		return proceed
	}
	removals := removalsForUpdate(f, d)
	if f.ordered {
		d.inOrder(removals...)
	} else {
		d.each(removals...)
	}
	return proceed
}

func removalsForUpdate(f *facts, d *draft) (removals []Action) {
	barrier, failing, stopped := f.barrier(), f.isFailing(), false
	for m := range f.inUpdateOrder() {
		_, how := f.target(m)
		if how == keep {
			continue
		}
		switch {
		case barrier.holds(m):
			d.giveUp(f, m)
		case how == mend:
			removals = append(removals, removeUnready(f, d, m)...)
		case isHeld(f, d, m):
			d.giveUp(f, m)
			stopped = stopped || f.ordered
		case servesNobody(m.pod):
			removals = append(removals, replaceBroken(f, d, m)...)
		case failing:
			d.giveUp(f, m)
		case !stopped && d.purse.affords(f, m):
			d.purse.pay(f, m)
			removals = append(removals, replaceMember(f, d, m)...)
		}
	}
	if !stopped && !failing {
		barrier.tell(f, d)
	}
	return removals
}

// rolls reports whether the set's members are updated one after the other, and nothing rests.
func (f *facts) rolls() bool {
	return f.Set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType && !f.rests()
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

func replaceMember(f *facts, d *draft, m member) []Action {
	removal := f.removalOf(m)
	actions := remove(f, d, m, removal)
	switch {
	case !removes(actions):
	case removal.Reason == DeleteMisshapen:
		d.wait("pod %s is being replaced by one that mounts the claims of the present templates", m.pod.Name)
	case removal.Reason == DeleteForOverride:
		d.wait("pod %s is being replaced by one %s", m.pod.Name, f.overrideText(m))
	default:
		d.wait("pod %s is being replaced at revision %s", m.pod.Name, f.goal(m).name)
		if revisionOf(m.pod) == f.current.name {
			d.replaced++
		}
	}
	return actions
}

// removalOf says of the removal of a member that is to be recreated what its pod has otherwise
// than it is to have, and why it is the member's turn.
func (f *facts) removalOf(m member) DeletePod {
	removal := DeletePod{Reason: DeleteForUpdate, Turn: f.turnOf(m)}
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
