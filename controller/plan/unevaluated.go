// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// evaluationEnded removes from a plan everything that deletes or changes objects, if the time for
// evaluations ended before everything was rendered that the plan depends on: what could not be
// rendered in time may be correct. Objects to create have been rendered completely. The next sync
// tries again.
func (f *facts) evaluationEnded(d *draft) (ended bool) {
	if !f.world.Evaluation.Ended() {
		return false
	}
	d.blocked(v1.ReasonRenderFailed,
		"the expressions of the set take too long to evaluate; nothing is removed or changed until they are evaluated in time")
	if len(creating(d.first)) < len(d.first) {
		d.first, d.chains, d.aside = nil, nil, nil
		return true
	}
	for i := range d.chains {
		d.chains[i] = creating(d.chains[i])
	}
	d.chains = slices.DeleteFunc(d.chains, func(chain action.Chain) bool { return len(chain) == 0 })
	d.aside = nil
	return true
}

// creating is the first part of a chain, which only creates.
func creating(chain action.Chain) action.Chain {
	for i, act := range chain {
		if !creates(act) {
			return chain[:i]
		}
	}
	return chain
}

// creates reports whether an action changes no existing object.
func creates(act action.Action) bool {
	switch act.(type) {
	case action.CreateMember, action.CreateClaims, action.CreateRevision, action.CreateAnchor, action.CreateObject:
		return true
	case action.SetClaimOwners, action.UpdateClaim, action.MarkClaim, action.DeleteClaim, action.RepairPod, action.DeletePod, action.AdoptPod,
		action.ReleasePod, action.PatchPod, action.SetPodConditions,
		action.UpdateInPlace, action.ResizePod, action.EndInPlace, action.RaiseRevision, action.AdoptRevision, action.DeleteRevision,
		action.OwnAnchor, action.SetObjectOwners, action.ApplyObject,
		action.MarkObject, action.DeleteObject:
		return false
	}
	return false
}
