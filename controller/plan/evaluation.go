// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// evaluationStoppedPlan is the plan for a set whose expressions are no longer evaluated: it does
// nothing. The status counts pods and keeps everything else.
func evaluationStoppedPlan(world World) Plan {
	_, suspended := v1.Held(world.Set)
	f := &facts{world: world, suspended: suspended, roster: identity.OrdinalsOf(world.Set), overrides: identity.OverridesOf(world.Set),
		supporting: &supportingObjects{}}
	f.current, f.update = &revision{name: world.Set.Status.CurrentRevision}, &revision{name: world.Set.Status.UpdateRevision}
	selector, err := metav1.LabelSelectorAsSelector(world.Set.Spec.Selector)
	if err != nil {
		selector = labels.Nothing()
	}
	f.sortMembers(selector)
	status := *world.Set.Status.DeepCopy()
	status.ObservedGeneration = world.Set.Generation
	status.UserActions = observed(status.UserActions)
	status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.CurrentReplicas, status.UpdatedReplicas = 0, 0, 0, 0, 0
	for m := range f.all() {
		if m.pod != nil {
			f.count(&status, m.pod)
		}
	}
	state := workState{open: &reason{v1.ReasonDeleting, "the set is being deleted"}}
	if world.Set.DeletionTimestamp == nil {
		stopped := &reason{v1.ReasonEvaluationStopped, stoppedMessage(world.Set)}
		state = workState{open: stopped, stalled: stopped}
	}
	says := conditionsOf(f, state)
	status.Conditions = says.Put(status.Conditions, f.world.Now)
	p := Plan{Status: status, Conditions: says, RequeueAfter: f.nextAvailability(), Unavailable: f.roster.Len() - f.available,
		MaxUnavailable: f.maxUnavailable()}
	if state.stalled != nil {
		p.Waiting = state.stalled.message
	}
	return p
}

// stoppedMessage says which expressions are no longer evaluated, why, and what to do.
func stoppedMessage(set *v1.StatefulSet) string {
	mark := set.Status.Evaluation
	return fmt.Sprintf("the controller no longer evaluates %s (inputs %s): %d of its processes ended while doing so; "+
		"pods, claims and objects stay unchanged; change these fields, or retry the evaluation: kubectl sts evaluate %s -n %s",
		words.SanitizeText(words.Few(mark.Fields)), words.Sanitize(mark.Inputs), mark.Deaths, set.Name, set.Namespace)
}

// evaluationEnded removes from a plan everything that deletes or changes objects, if the time for
// evaluations ended before everything was rendered that the plan depends on: what could not be
// rendered in time may be correct. Objects to create have been rendered completely. The next sync
// tries again.
func (f *facts) evaluationEnded(d *draft) (ended bool) {
	if !f.world.Evaluation.Ended() {
		return false
	}
	d.stall(v1.ReasonRenderFailed,
		"the expressions of the set take too long to evaluate; nothing is removed or changed until they are evaluated in time")
	if len(creating(d.first)) < len(d.first) {
		d.first, d.chains, d.finally = nil, nil, nil
		return true
	}
	for i := range d.chains {
		d.chains[i] = creating(d.chains[i])
	}
	d.chains = slices.DeleteFunc(d.chains, func(chain action.Chain) bool { return len(chain) == 0 })
	d.finally = nil
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
