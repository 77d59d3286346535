// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// respectsBudgets reports whether PodDisruptionBudgets restrict what is done with a pod: its set
// evicts pods, and the pod is ready. For a pod that is not ready, an update has no reason to wait
// for budgets.
func (f *facts) respectsBudgets(pod *corev1.Pod) bool {
	return f.world.Set.Spec.Disruption != nil && f.world.Set.Spec.Disruption.Method == v1.EvictDisruptionMethodType && isReady(pod)
}

// asksBudgets reports whether the controller asks the cluster if it would evict the pod of a
// member, before it changes the pod in place or drains it for that. It asks only if containers are
// restarted, because clients of the pod notice that like an eviction.
func (f *facts) asksBudgets(m member, change *identity.InPlaceChange) bool {
	return f.respectsBudgets(m.pod) && change.Restarts()
}

// waitForBudgets reports whether a member has to wait until budgets have observed that another
// member was taken out of service in place, and records that. Asking the cluster whether it would
// evict a pod uses up no budget, so until that other pod is no longer ready, the cluster would
// allow one more disruption. A member that is itself still to be observed is not an additional
// disruption.
func (f *facts) waitForBudgets(d *draft, m member) bool {
	unseen := d.unseenByBudgets(f)
	if unseen == "" || isUnseenByBudgets(m.pod) {
		return false
	}
	d.wait("pod %s waits for PodDisruptionBudgets to observe that pod %s is not ready", m.pod.Name, unseen)
	d.skip(m, v1.PlanWhyNotBudget, "waiting for the PodDisruptionBudget to observe that pod "+unseen+" is not ready")
	return true
}

// unseenByBudgets is the first pod that was taken out of service in place and that budgets still
// count as healthy; empty if there is none. It is computed once for all members.
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

// isUnseenByBudgets reports whether a pod is still ready although it was taken out of service, or
// although its node has to restart containers of it.
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
	return len(note.unrestarted(pod)) > 0 || note.ResizeRestarts && note.isBeingResized(pod)
}
