// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
)

// mostChanged is how many claims one plan changes, so that the size of a plan does not depend on
// the number of claims.
const mostChanged = mostMissing

// updateClaims changes the claims of members to match their templates, as far as that is possible
// in place. It does not wait for healthy members, because a full disk may be why a member is not
// ready. The claims of at most maxUnavailable members grow at a time, from the highest ordinal
// down, or in the order that the set specifies: what goes wrong with one volume may go wrong with
// all. A change that the driver refuses leaves the volume as it was, so it does not delay the
// claims of other members.
func updateClaims(f *facts, d *draft) verdict {
	if !f.updatesClaims() {
		return proceed
	}
	if f.unrendered != nil {
		d.cannotRender(*f.unrendered, f.unrenderedBy)
	}
	budget := f.maxUnavailable()
	for _, m := range f.members {
		budget -= boolToInt(f.spendsOnClaims(m))
	}
	var blocked []string
	for m := range f.inUpdateOrder() {
		states := f.claimStates[m.ordinal]
		lacks := slices.ContainsFunc(states, claimState.lacksWork)
		if lacks && !f.spendsOnClaims(m) {
			budget--
		}
		if lacks && budget < 0 {
			blocked = append(blocked, f.podName(m))
		}
		for _, s := range states {
			if change, any := s.due(budget >= 0); any && len(d.changed) < mostChanged && !f.isChanged(s.claim, m) {
				change.Ordinal = m.ordinal
				d.change(change)
			}
		}
	}
	for m := range f.inUpdateOrder() {
		for _, s := range f.claimStates[m.ordinal] {
			reportInfeasible(d, s, blocked)
		}
	}
	return proceed
}

// isChanged reports whether another rule changes a claim. An update would be decided on an outdated
// version of the claim.
func (f *facts) isChanged(claim *corev1.PersistentVolumeClaim, m member) bool {
	return f.changesOwners(claim) || f.lacksMark(claim, m)
}

// spendsOnClaims reports whether a volume of a member is being changed, so that other members have
// to wait.
func (f *facts) spendsOnClaims(m member) bool {
	return slices.ContainsFunc(f.claimStates[m.ordinal], func(s claimState) bool { return s.spends })
}

// change plans the change of a claim. Nothing else is then planned for that claim, because it would
// be decided on an outdated version of it.
func (d *draft) change(act action.UpdateClaim) {
	if d.changed == nil {
		d.changed = map[string]bool{}
	}
	d.changed[act.Claim.Name] = true
	d.add(act)
}

// reportInfeasible reports that a claim cannot be changed to match its template, which members it
// delays, and how to cancel the change. The controller keeps requesting the change while the
// template does.
func reportInfeasible(d *draft, s claimState, blocked []string) {
	if s.infeasible == "" {
		return
	}
	back := ""
	if s.spends && len(blocked) > 0 {
		back = "; the claims of " + words.Few(blocked) + " wait for it, and these pods are not updated while they serve"
	}
	d.stall(v1.ReasonClaimGrowthRefused,
		"claim %s cannot be changed to match its template: %s%s; to cancel the change, first restore the template, then the claim: kubectl -n %s patch pvc %s -p '%s'",
		s.claim.Name, s.infeasible, back, s.claim.Namespace, s.claim.Name, s.undo())
}

// growing describes how far the first claim has come that does not match its template yet; empty if
// all do.
func (f *facts) growing() string {
	for m := range f.inUpdateOrder() {
		for _, s := range f.claimStates[m.ordinal] {
			if text := s.progressText(); text != "" {
				return text
			}
		}
	}
	return ""
}

// updatesClaims reports whether existing claims follow their templates.
func (f *facts) updatesClaims() bool {
	return f.world.Set.Spec.VolumeClaimUpdate.IsInPlace()
}

// compareClaims compares the claims that the set may change with their templates.
func (f *facts) compareClaims() {
	if !f.updatesClaims() {
		return
	}
	f.claimStates = make(map[int][]claimState, len(f.members))
	for _, m := range f.members {
		for i := range f.world.Set.Spec.VolumeClaimTemplates {
			if claim := f.claimOf(m, i); claim != nil && f.mayChange(claim, m, i) {
				template, wrong := f.overrides.RenderedClaimTemplate(i, m.ordinal)
				if wrong != nil {
					f.unrendered, f.unrenderedBy = &m, wrong
					continue
				}
				f.claimStates[m.ordinal] = append(f.claimStates[m.ordinal], compareClaim(template, claim))
			}
		}
	}
}

// mayChange reports whether the set may change a claim: it is bound, and no one else controls or
// deletes it. The cluster allows no one to change a claim that is not bound.
func (f *facts) mayChange(claim *corev1.PersistentVolumeClaim, m member, template int) bool {
	return claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil &&
		f.world.Rivals[f.world.Set.Spec.VolumeClaimTemplates[template].Name] == "" && !f.ofFormerOwner(claim, m) &&
		!f.hasOtherController(claim, m)
}

// awaitsClaims reports whether a member is not updated yet, because its claims have yet to be
// patched: its current pod may be the only one that runs with the claims in their current state. A
// pod that does not serve is not kept for that.
func awaitsClaims(f *facts, d *draft, m member) bool {
	if isNotServing(m.pod) {
		return false
	}
	for _, s := range f.claimStates[m.ordinal] {
		if s.lacks() {
			d.wait("pod %s is not replaced before claim %s is patched to match its template", m.pod.Name, s.claim.Name)
			return true
		}
	}
	return false
}

// volumeClaims reports, for each template, how many claims of members match it.
func volumeClaims(f *facts) []v1.VolumeClaimStatus {
	if f.world.Set.Spec.VolumeClaimUpdate == nil {
		return nil
	}
	var all []v1.VolumeClaimStatus
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		status := v1.VolumeClaimStatus{Name: f.world.Set.Spec.VolumeClaimTemplates[i].Name}
		for _, m := range f.members {
			if claim := f.claimOf(m, i); claim != nil {
				f.countClaim(&status, f.claimStateOf(claim, i, m), f.mayChange(claim, m, i))
			}
		}
		all = append(all, status)
	}
	return all
}

// claimStateOf compares a claim of a member with the template of that index.
func (f *facts) claimStateOf(claim *corev1.PersistentVolumeClaim, template int, m member) claimState {
	rendered, wrong := f.overrides.RenderedClaimTemplate(template, m.ordinal)
	if wrong != nil {
		return claimState{claim: claim, differs: words.SanitizeText(wrong.For(m.ordinal))}
	}
	return compareClaim(rendered, claim)
}

func (f *facts) countClaim(status *v1.VolumeClaimStatus, s claimState, mayChange bool) {
	status.Claims++
	differs := s.differs
	if differs == "" && s.lacks() && (!f.updatesClaims() || !mayChange) {
		differs = s.lacking()
	}
	record := func(count *int32, what string) {
		*count++
		if status.Message == "" {
			status.Message = fmt.Sprintf("claim %s: %s", s.claim.Name, what)
		}
	}
	if s.infeasible != "" {
		record(&status.Infeasible, s.infeasible)
	}
	if s.restart {
		status.RestartRequired++
	}
	switch {
	case differs != "":
		record(&status.Differing, differs)
	case s.lacks():
	case s.grows || s.attributes != "":
		status.Growing++
	default:
		status.UpToDate++
	}
}
