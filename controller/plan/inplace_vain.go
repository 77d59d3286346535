// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// defaultGrace is what a pod that does not say so has to end in.
const defaultGrace = 30 * time.Second

// resizeOrGiveUp tells the host to resize members, and recreates those that wait for a restart or
// a resize that does not come. A container that has ended by itself just as it was to be restarted
// is taken for the restarted one, and if the change is then undone, its node finds that it runs
// what it is to run. No status tells such a wait from one for a slow node, so it is given up after
// a time: to recreate the member ends well in both cases. Of a resize the node itself says why it
// does not do it.
//
// The members go in the order of updates, one that serves only as long as no more than
// maxUnavailable members are down, and in an ordered set when all others serve. They count as
// serving here, or two of them would wait for each other.
func resizeOrGiveUp(f *facts, d *draft, left map[int]bool) {
	if len(left) == 0 {
		return
	}
	down := 0
	for _, m := range f.members {
		down += one(f.isDown(m))
	}
	for m := range f.inUpdateOrder() {
		if !left[m.ordinal] {
			continue
		}
		others, goes := down-one(f.isDown(m)), false
		if overdue, _ := f.isOverdue(m.pod); overdue {
			goes = f.giveUpRestart(d, m, others)
		} else {
			goes = f.resizeNext(d, m, others)
		}
		if goes {
			down = others + 1
		}
	}
}

// isDown reports whether a wanted member does not serve, or is about to.
func (f *facts) isDown(m member) bool {
	if m.pod == nil || isTerminating(m.pod) {
		return true
	}
	if overdue, _ := f.isOverdue(m.pod); isRestarting(m.pod) && !overdue && !noteOf(m.pod).awaitsHost(m.pod) {
		return true
	}
	at, ready := f.availableAt(m.pod)
	return !ready || f.world.Set.Spec.MinReadySeconds > 0 && at.After(f.world.Now)
}

// restartedUntil is the time until which containers of a pod should have been ended to be
// restarted, or should have been resized: they may take all the time that the pod gives them, and
// their node as much as anything of the set may take.
func (f *facts) restartedUntil(pod *corev1.Pod, note inPlaceNote) time.Time {
	grace := defaultGrace
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		grace = v1.Seconds(*seconds)
	}
	return latest(note.begun(), resizingSince(pod)).Add(grace + f.progressDeadline())
}

// isOverdue reports whether containers of a pod should have been restarted or resized by now, or
// cannot be resized. As long as that may still come, left is how long it takes. A pod that has yet
// to run waits for more than that, and would when it is recreated.
func (f *facts) isOverdue(pod *corev1.Pod) (overdue bool, left time.Duration) {
	if !isRestarting(pod) || isTerminating(pod) || pod.Status.Phase != corev1.PodRunning {
		return false, 0
	}
	note := noteOf(pod)
	switch {
	case !isObserved(pod):
		return false, 0
	case note.isInfeasible(pod):
		return true, 0
	case note.mayChange(pod) && !note.isBeingResized(pod):
		return false, 0
	}
	left = max(f.restartedUntil(pod, note).Sub(f.world.Now), 0)
	return left == 0, left
}

// servesInVain reports whether a member serves and waits for a restart that does not come, or for
// the host to let it be resized.
func (f *facts) servesInVain(m member) bool {
	return m.pod != nil && isRestarting(m.pod) && !f.isDown(m)
}

// nextOverdue is how long it takes until the first restart is given up.
func (f *facts) nextOverdue() (next time.Duration) {
	if f.frozen() || f.world.Set.DeletionTimestamp != nil {
		return 0
	}
	for m := range f.all() {
		_, left := f.isOverdue(m.pod)
		next = soonest(next, left)
	}
	return next
}

// giveUpRestart recreates a member, if so many others may be down, and reports whether it
// does.
func (f *facts) giveUpRestart(d *draft, m member, others int) bool {
	note := noteOf(m.pod)
	what, why := note.tellVain(m.pod), action.DeleteUnrestarted
	if note.isBeingResized(m.pod) {
		what, why = note.tellUnresized(m.pod), action.DeleteUnresized
	}
	switch {
	case f.rests():
		d.wait("pod %s is recreated when the update goes on: %s", m.pod.Name, what)
	case f.inPlacePolicy() == v1.OnlyInPlaceUpdatePolicyType, f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType:
		d.blocked(v1.ReasonInPlaceImpossible, "pod %s has to be recreated, which the update strategy leaves to you: %s; delete it", m.pod.Name,
			what)
	case !returnable(f, d, m) || d.waitForOwners(f, m) || awaitsClaims(f, d, m):
	case !f.affords(m, others):
		d.wait("pod %s is recreated when %s: %s", m.pod.Name, f.whenFree(), what)
	default:
		d.warn(v1.ReasonInPlaceFallback, "pod %s is recreated at revision %s: %s", m.pod.Name, f.goal(m).name, what)
		d.wait("pod %s is being recreated: %s", m.pod.Name, what)
		d.each(remove(f, d, m, action.DeletePod{Reason: why})...)
		return true
	}
	return false
}

// affords reports whether a member may be recreated whose restart or resize is given up, if so
// many others are down.
func (f *facts) affords(m member, others int) bool {
	return isBroken(m.pod) || others < f.maxUnavailable() && (!f.ordered || others == 0)
}

// whenFree says when a member that serves may be taken from service.
func (f *facts) whenFree() string {
	if f.ordered {
		return "all others are available"
	}
	return fmt.Sprintf("that leaves no more than %d members unavailable", f.maxUnavailable())
}
