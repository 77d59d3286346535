// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/plan/action"
)

// remove plans the next action to remove a pod that may be available: for an update, on request, or
// because its member is surplus. All such removals use this function. It plans none while the pod
// owns a claim that stays.
func remove(f *facts, d *draft, m member, removal action.DeletePod) []action.Action {
	if d.waitForOwners(f, m) {
		return nil
	}
	if first, agree := askFirst(f, d, m, removal.Reason); !agree {
		return first
	}
	removal = f.addressed(m, removal)
	if removal.Evict && f.waitForBudgets(d, m) {
		return nil
	}
	return []action.Action{removal}
}

// askFirst asks the gates before a member is taken out of service, and reports whether they agree.
// It does not ask them about a useless pod: one that has finished, or that blocks an update.
func askFirst(f *facts, d *draft, m member, why action.DeleteReason) (first []action.Action, agree bool) {
	delete(d.withdrawn, m.pod.UID)
	if why == action.DeleteUnready || why == action.DeleteUnrestarted || why == action.DeleteUnresized {
		return nil, true
	}
	return askGates(f, d, m)
}

// addressed is the removal of the pod of a member, by the method that the set requests.
func (f *facts) addressed(m member, removal action.DeletePod) action.DeletePod {
	removal.Ordinal, removal.Pod, removal.Evict = m.ordinal, action.Exact(m.pod), f.respectsBudgets(m.pod)
	return removal
}

// removes reports whether actions remove a pod.
func removes(actions []action.Action) bool {
	return slices.ContainsFunc(actions, func(act action.Action) bool { _, ok := act.(action.DeletePod); return ok })
}

// changesInPlace reports whether actions change a pod in place.
func changesInPlace(actions []action.Action) bool {
	return slices.ContainsFunc(actions, func(act action.Action) bool { _, ok := act.(action.UpdateInPlace); return ok })
}

// postpone records that a member is not removed for now, for a reason that lets other members go
// first. The request to its gates is withdrawn.
func (d *draft) postpone(f *facts, m member) {
	if !f.isLeavingService(m) {
		return
	}
	if d.withdrawn == nil {
		d.withdrawn = map[types.UID]bool{}
	}
	d.withdrawn[m.pod.UID] = true
}

// changesPod reports whether an action is planned for the pod of a member.
func (d *draft) changesPod(m member) bool {
	return m.pod != nil && slices.ContainsFunc(d.chains, func(chain action.Chain) bool {
		return slices.ContainsFunc(chain, func(act action.Action) bool { return podOf(act).UID == m.pod.UID })
	})
}

// podOf is the pod that an action changes, the zero value if it changes none.
func podOf(act action.Action) action.Target {
	switch a := act.(type) {
	case action.RepairPod:
		return a.Pod
	case action.UpdateInPlace:
		return a.Pod
	case action.EndInPlace:
		return a.Pod
	case action.ResizePod:
		return a.Pod
	case action.PatchPod:
		return a.Pod
	case action.SetPodConditions:
		return a.Pod
	case action.DeletePod:
		return a.Pod
	case action.AdoptPod:
		return a.Pod
	case action.ReleasePod:
		return a.Pod
	case action.CreateMember, action.CreateClaims, action.SetClaimOwners, action.UpdateClaim, action.MarkClaim, action.DeleteClaim,
		action.CreateObject, action.ApplyObject, action.MarkObject, action.DeleteObject, action.CreateAnchor, action.OwnAnchor,
		action.SetObjectOwners, action.CreateRevision, action.RaiseRevision, action.AdoptRevision, action.DeleteRevision:
	}
	return action.Target{}
}
