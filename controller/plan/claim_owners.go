// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// findOwnerChanges compares the owner references of every claim of the set with the retention
// policy: claims of desired and of surplus members, with or without a pod, and of removed claim
// templates. A claim that an older set has, too, is not changed. The status reports such a claim if
// it could be deleted.
func (f *facts) findOwnerChanges() {
	if len(f.world.Claims) == 0 {
		return
	}
	members := make(map[int]member, len(f.world.Pods))
	for m := range f.all() {
		if m.pod != nil {
			members[m.ordinal] = m
		}
	}
	for _, claim := range f.world.Claims {
		template, ordinal, named := identity.SplitClaimName(claim.Name, f.world.Set.Name)
		if !named || claim.DeletionTimestamp != nil {
			continue
		}
		m, hasPod := members[ordinal]
		if !hasPod {
			m = member{ordinal: ordinal}
		}
		change := f.ownerChange(claim, m, template)
		if change == nil {
			continue
		}
		if f.world.Rivals[template] == "" {
			if f.ownerChanges == nil {
				f.ownerChanges = map[int][]action.SetClaimOwners{}
			}
			f.ownerChanges[ordinal] = append(f.ownerChanges[ordinal], *change)
		}
		if change.Exposed != "" {
			f.exposed = append(f.exposed, *change)
		}
	}
	byName := func(a, b action.SetClaimOwners) int { return strings.Compare(a.Claim.Name, b.Claim.Name) }
	for _, changes := range f.ownerChanges { // claims come in any order, and the status names the first
		slices.SortFunc(changes, byName)
	}
	slices.SortFunc(f.exposed, byName)
}

// ownerChange is the change that the owners of a claim need, nil if they need none. A claim that
// refers to an earlier set or pod of the same name is left alone: either the garbage collector is
// about to delete it, or the user who orphaned it has yet to decide about it.
func (f *facts) ownerChange(claim *corev1.PersistentVolumeClaim, m member, template string) *action.SetClaimOwners {
	var ours, others []metav1.OwnerReference
	for _, ref := range claim.OwnerReferences {
		switch {
		case f.isFormer(ref, m):
			return nil
		case ref.UID == f.world.Set.UID, f.isPod(ref, m):
			ours = append(ours, ref)
		default:
			others = append(others, ref)
		}
	}
	policy := f.wantedOwners(m)
	want := policy
	switch {
	case f.hasOtherController(claim, m):
		want = nil
	case f.isUnused(claim, m, template):
		policy = f.allowedOwners(m)
		want = slices.DeleteFunc(slices.Clone(policy), func(allowed metav1.OwnerReference) bool { return !refersTo(ours, allowed) })
	}
	if slices.EqualFunc(ours, want, func(a, b metav1.OwnerReference) bool { return a.UID == b.UID && isController(a) == isController(b) }) {
		return nil
	}
	change := &action.SetClaimOwners{Ordinal: m.ordinal, Claim: action.Exact(claim), Owners: append(others, want...)}
	if exposing := slices.IndexFunc(ours, func(ref metav1.OwnerReference) bool { return f.exposes(ref, policy) }); exposing >= 0 {
		change.Exposed = words.Sanitize(ours[exposing].Kind) + "/" + words.Sanitize(ours[exposing].Name)
	}
	return change
}

// exposes reports whether a claim is deleted with an owner although the policy does not require
// that. A claim that must be deleted with its surplus pod may as well be deleted with the set.
func (f *facts) exposes(owner metav1.OwnerReference, policy []metav1.OwnerReference) bool {
	return !refersTo(policy, owner) && !slices.ContainsFunc(policy, func(ref metav1.OwnerReference) bool { return ref.UID != f.world.Set.UID })
}

// isUnused reports whether nothing shows that the current policy applies to a claim: its template
// was removed, or its member is surplus and has no pod. A user may have created the claim for a
// later scale-up, or an earlier policy kept it. Such a claim gets no additional owner.
func (f *facts) isUnused(claim *corev1.PersistentVolumeClaim, m member, template string) bool {
	removed := !slices.ContainsFunc(f.world.Set.Spec.VolumeClaimTemplates,
		func(t corev1.PersistentVolumeClaim) bool { return t.Name == template })
	mark := claim.Annotations[v1.OwnerAnnotation]
	return removed || m.pod == nil && !f.roster.Contains(m.ordinal) && mark != identity.OwnerMark(f.world.Set)
}

// allowedOwners are the owners that an unused claim may keep: all owners with which the policy
// allows it to be deleted.
func (f *facts) allowedOwners(m member) []metav1.OwnerReference {
	allowed := f.wantedOwners(m)
	if f.retention().WhenDeleted == v1.DeletePersistentVolumeClaimRetentionPolicyType && !refersTo(allowed, identity.Owner(f.world.Set)) {
		allowed = append(allowed, identity.Owner(f.world.Set))
	}
	return allowed
}

func refersTo(owners []metav1.OwnerReference, owner metav1.OwnerReference) bool {
	return slices.ContainsFunc(owners, func(ref metav1.OwnerReference) bool { return ref.UID == owner.UID })
}

// keepClaimOwners gives the claims of the set the owners that the retention policy requires,
// regardless of the health of members and before any rule removes a pod: a user who sets the policy
// to Retain may delete the set right after that. Each change is a chain of its own, so a refused
// one blocks only the removal of its own member's pod, which waits in ownersAllow.
func keepClaimOwners(f *facts, d *draft) verdict {
	var changes []action.SetClaimOwners
	for _, all := range f.ownerChanges {
		changes = append(changes, all...)
	}
	slices.SortFunc(changes, f.byUrgency)
	for _, change := range changes[:min(len(changes), mostChanged)] {
		d.add(change)
	}
	for m := range f.all() {
		f.markClaims(d, m)
	}
	return proceed
}

// byUrgency puts first the claims that could be deleted although they must be kept, and then those
// of surplus members, whose removal waits for that.
func (f *facts) byUrgency(a, b action.SetClaimOwners) int {
	urgency := func(c action.SetClaimOwners) int {
		switch {
		case c.Exposed != "":
			return 0
		case !f.roster.Contains(c.Ordinal):
			return 1
		default:
			return 2
		}
	}
	byOrdinal := cmp.Compare(a.Ordinal, b.Ordinal)
	if urgency(a) == 1 {
		byOrdinal = -byOrdinal // the highest member is removed first
	}
	return cmp.Or(cmp.Compare(urgency(a), urgency(b)), byOrdinal, strings.Compare(a.Claim.Name, b.Claim.Name))
}

// markClaims plans the annotation that the claims of a member need to be deleted some time after
// its removal.
func (f *facts) markClaims(d *draft, m member) {
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		claim := f.claimOf(m, i)
		if d.owned == mostChanged || !f.isUnmarked(m, i) || f.changesOwners(claim) {
			continue
		}
		d.owned++
		d.add(action.MarkClaim{Ordinal: m.ordinal, Claim: action.Exact(claim), As: action.ClaimOwned,
			Annotations: map[string]*string{v1.OwnerAnnotation: new(identity.OwnerMark(f.world.Set))}})
	}
}

// isUnmarked reports whether the claim of a member from the template with that index lacks the
// annotation.
func (f *facts) isUnmarked(m member, template int) bool {
	claim := f.claimOf(m, template)
	return claim != nil && f.world.Rivals[f.world.Set.Spec.VolumeClaimTemplates[template].Name] == "" && f.lacksMark(claim, m)
}

// changesOwners reports whether the owners of a claim have to change. Until then nothing else is
// planned for the claim, because that would be decided on an outdated version of it.
func (f *facts) changesOwners(claim *corev1.PersistentVolumeClaim) bool {
	_, ordinal, _ := identity.SplitClaimName(claim.Name, f.world.Set.Name)
	return slices.ContainsFunc(f.ownerChanges[ordinal], func(change action.SetClaimOwners) bool { return change.Claim.Name == claim.Name })
}

// ownersAllow reports whether the claims of a member allow the removal of its pod. No claim that
// must be kept may be deleted with the pod, and the claims of a surplus member must have their
// owners first. The removal waits for a sync that observes both: it does not rely on a patch that
// may be refused, or that the pod's removal may overtake.
func (f *facts) ownersAllow(m member) bool {
	desired := f.roster.Contains(m.ordinal)
	for _, change := range f.ownerChanges[m.ordinal] {
		if !desired || change.Exposed != "" {
			return false
		}
	}
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		if !desired && f.isUnmarked(m, i) {
			return false
		}
	}
	return true
}

// waitForOwners reports whether the pod of a member has to stay until the owners of its claims have
// changed, and records that.
func (d *draft) waitForOwners(f *facts, m member) bool {
	if f.ownersAllow(m) {
		return false
	}
	for _, change := range f.ownerChanges[m.ordinal] {
		if change.Exposed != "" {
			d.wait("pod %s is removed when retained claim %s is no longer owned by %s", m.pod.Name, change.Claim.Name, change.Exposed)
			return true
		}
	}
	d.wait("the claims of removed members are being marked for deletion")
	return true
}

// exposedText describes the first claim that would be deleted with an owner although it must be
// kept, empty if there is none.
func (f *facts) exposedText() string {
	if len(f.exposed) == 0 {
		return ""
	}
	first := f.exposed[0]
	text := fmt.Sprintf("retained claim %s is still owned by %s", first.Claim.Name, first.Exposed)
	if template, _, _ := identity.SplitClaimName(first.Claim.Name, f.world.Set.Name); f.world.Rivals[template] != "" {
		text += fmt.Sprintf(", and is not changed, because it is also a claim of the older set %s", f.world.Rivals[template])
	}
	if more := len(f.exposed) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more %s)", more, words.Plural("claim", more))
	}
	return text
}
