// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mindsBudgets reports whether budgets have a say in what is done with a pod: its set evicts, and
// it is ready. Of others they say nothing that an update could wait for.
func (f *facts) mindsBudgets(pod *corev1.Pod) bool {
	return f.world.Set.Spec.Disruption != nil && f.world.Set.Spec.Disruption.Method == v1.EvictDisruptionMethodType && isReady(pod)
}

// asksBudgets reports whether the host is asked whether it would evict the pod of a member before
// a change is made to it, or anything that leads there: containers are restarted, which whoever
// uses them feels as an eviction.
func (f *facts) asksBudgets(m member, change *identity.InPlaceChange) bool {
	return f.mindsBudgets(m.pod) && change.Restarts()
}

// isAheadOfBudgets reports whether budgets have yet to know of another member that has been taken
// from service in place. To ask the host whether it would evict a pod uses up nothing of a budget,
// so until that other pod ceases to be ready, the host would let one more go. A member of which
// they have yet to know itself is no further one.
func (f *facts) isAheadOfBudgets(d *draft, m member) bool {
	unseen := d.unseenByBudgets(f)
	if unseen == "" || isUnseenByBudgets(m.pod) {
		return false
	}
	d.wait("pod %s is taken from service when budgets know that pod %s is", m.pod.Name, unseen)
	return true
}

// unseenByBudgets is the first pod that has been taken from service in place, and that budgets
// take for one that serves; empty if there is none. It is found out once for all members.
func (d *draft) unseenByBudgets(f *facts) string {
	if d.unseen != nil {
		return *d.unseen
	}
	d.unseen = new("")
	for m := range f.all() {
		if isUnseenByBudgets(m.pod) {
			*d.unseen = m.pod.Name
			break
		}
	}
	return *d.unseen
}

// isUnseenByBudgets reports whether a pod is ready as ever, and is out of service, or its node has
// been told to restart containers of it.
func isUnseenByBudgets(pod *corev1.Pod) bool {
	if pod == nil || isTerminating(pod) || !isReady(pod) {
		return false
	}
	if _, out := outSince(pod); out {
		return true
	}
	if !isRestarting(pod) {
		return false
	}
	note := noteOf(pod)
	return len(note.awaited(pod)) > 0 || note.ResizeRestarts && note.isBeingResized(pod)
}
