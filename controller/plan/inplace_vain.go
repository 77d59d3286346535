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

// defaultGrace is the termination grace period of a pod that does not specify one.
const defaultGrace = 30 * time.Second

// resizeOrGiveUp resizes members, and recreates members that wait for a restart or a resize that
// does not happen. If a container ends by itself just before its restart, it counts as restarted.
// If the change is then reverted, its node finds that it already runs the right image. No status
// distinguishes such a wait from a wait for a slow node, so the controller gives up after a time:
// to recreate the member helps in both cases. For a resize, the node itself reports why it does not
// do it.
//
// Members are handled in the order of updates. A member that serves is recreated only if no more
// than maxUnavailable members are down; in an ordered set, only if all others serve. Members that
// wait here count as serving, because two of them would otherwise wait for each other.
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

// isDown reports whether a desired member does not serve, or is about to stop.
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

// restartedUntil is the time by which containers of a pod should have been stopped for their
// restart, or should have been resized: they may take their whole grace period, and the node may
// take as long as the progress deadline of the set.
func (f *facts) restartedUntil(pod *corev1.Pod, note inPlaceNote) time.Time {
	grace := defaultGrace
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		grace = v1.Seconds(*seconds)
	}
	return latest(note.begun(), resizingSince(pod)).Add(grace + f.progressDeadline())
}

// isOverdue reports whether containers of a pod should have been restarted or resized by now, or
// cannot be resized. While that may still happen, left is the time that remains. A pod that does
// not run yet waits for more than that, and still would if it were recreated.
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

// servesInVain reports whether a member serves while it waits for a restart that does not happen,
// or for the cluster to accept a resize.
func (f *facts) servesInVain(m member) bool {
	return m.pod != nil && isRestarting(m.pod) && !f.isDown(m)
}

// nextOverdue is the time until the first restart or resize is given up.
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

// giveUpRestart recreates a member if that many others may be down, and reports whether it does.
func (f *facts) giveUpRestart(d *draft, m member, others int) bool {
	note := noteOf(m.pod)
	what, why := note.tellVain(m.pod), action.DeleteUnrestarted
	if note.isBeingResized(m.pod) {
		what, why = note.tellUnresized(m.pod), action.DeleteUnresized
	}
	switch {
	case f.rests():
		d.wait("pod %s is recreated when the update continues: %s", m.pod.Name, what)
	case f.inPlacePolicy() == v1.OnlyInPlaceUpdatePolicyType, f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType:
		d.blocked(v1.ReasonInPlaceImpossible, "pod %s must be recreated, which the update strategy leaves to you: %s; delete the pod", m.pod.Name,
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

// affords reports whether a member whose restart or resize is given up may be recreated while that
// many others are down.
func (f *facts) affords(m member, others int) bool {
	return isBroken(m.pod) || others < f.maxUnavailable() && (!f.ordered || others == 0)
}

// whenFree says when a member that serves may be taken out of service.
func (f *facts) whenFree() string {
	if f.ordered {
		return "all others are available"
	}
	return fmt.Sprintf("that leaves no more than %d members unavailable", f.maxUnavailable())
}
