// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// remove is what is done next to take away a pod that may serve: by an update, because somebody
// has asked for it, or because its member is not wanted. All such removals go through here. What
// removes a pod otherwise finds it useless: it has ended, or it keeps an update from going on.
func remove(f *facts, d *draft, m member, removal DeletePod) []Action {
	delete(d.given, m.pod.UID)
	if first, agree := askGates(f, d, m); !agree {
		return first
	}
	removal.Ordinal, removal.Pod, removal.Evict = m.ordinal, exact(m.pod), f.evicts() && isReady(m.pod)
	return []Action{removal}
}

// evicts reports whether pods that are ready are evicted. Of others budgets say nothing that an
// update could wait for.
func (f *facts) evicts() bool {
	return f.Set.Spec.Disruption != nil && f.Set.Spec.Disruption.Method == v1.EvictDisruptionMethodType
}

// removes reports whether actions remove a pod.
func removes(actions []Action) bool {
	return slices.ContainsFunc(actions, func(action Action) bool { _, ok := action.(DeletePod); return ok })
}

// giveUp notes that a member that is to be removed is not, for a reason for which others may go
// first. What its gates were asked is withdrawn.
func (d *draft) giveUp(f *facts, m member) {
	if !f.taken(m) {
		return
	}
	if d.given == nil {
		d.given = map[types.UID]bool{}
	}
	d.given[m.pod.UID] = true
}

// changesPod reports whether something is planned for the pod of a member.
func (d *draft) changesPod(m member) bool {
	return m.pod != nil && slices.ContainsFunc(d.chains, func(chain Chain) bool {
		return slices.ContainsFunc(chain, func(action Action) bool { return podOf(action).UID == m.pod.UID })
	})
}

// podOf is the pod that an action changes, none if it changes none.
func podOf(action Action) Target {
	switch a := action.(type) {
	case RepairPod:
		return a.Pod
	case PatchPod:
		return a.Pod
	case SetPodConditions:
		return a.Pod
	case DeletePod:
		return a.Pod
	case AdoptPod:
		return a.Pod
	case ReleasePod:
		return a.Pod
	case CreateMember, CreateClaims, SetClaimOwners, UpdateClaim, CreateRevision, RaiseRevision, AdoptRevision, DeleteRevision:
	}
	return Target{}
}
