// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// lackingClaims are the claims of a member that do not exist yet. It reports false, and records
// why, if a claim cannot be used: it is the claim of another set, it is terminating, or it is about
// to be deleted, because it belonged to a member or a set that no longer exists. Any other claim
// with the right name is used unchanged.
func lackingClaims(f *facts, d *draft, m member) (lacking []*corev1.PersistentVolumeClaim, usable bool) {
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		template := f.world.Set.Spec.VolumeClaimTemplates[i].Name
		existing := f.claimOf(m, i)
		switch {
		case blockedByRival(f, d, m, template):
			return nil, false
		case existing == nil:
			claim, wrong := f.overrides.Claim(i, m.ordinal)
			if wrong != nil {
				d.cannotRender(m, wrong)
				return nil, false
			}
			claim.OwnerReferences = f.wantedOwners(m)
			lacking = append(lacking, claim)
		case existing.DeletionTimestamp != nil:
			d.wait("claim %s of member %d is being deleted; the member is created after that", existing.Name, m.ordinal)
			return nil, false
		case f.ofFormerOwner(existing, m):
			d.wait("claim %s of member %d belongs to an earlier pod or set and is deleted with it; the member is created after that", existing.Name,
				m.ordinal)
			return nil, false
		case isRetired(existing):
			d.wait("waiting for the retired-at annotation of claim %s to be removed; member %d is created after that", existing.Name,
				m.ordinal)
			return nil, false
		case f.conflicts(existing, m):
			d.warn("ConflictingController", "claim %s has another controller; the retention policy is not applied to it", existing.Name)
		}
	}
	return lacking, true
}

// blockedByRival reports whether the claim of a member is also the claim of another set, and
// records that.
func blockedByRival(f *facts, d *draft, m member, template string) bool {
	rival := f.world.Rivals[template]
	if rival == "" {
		return false
	}
	d.stall(v1.ReasonClaimShared,
		"claim %s of member %d is also a claim of set %s, which is older: in both sets, the names of the claim template and the set join to the same claim name; use another name for this set or its claim template", identity.ClaimName(template, f.world.Set.Name, m.ordinal), m.ordinal, rival)
	return true
}

// claimOf is the member's claim from the template with that index, nil if it does not exist.
func (f *facts) claimOf(m member, template int) *corev1.PersistentVolumeClaim {
	var space [128]byte
	name := identity.AppendClaimName(space[:0], f.world.Set.Spec.VolumeClaimTemplates[template].Name, f.world.Set.Name, m.ordinal)
	return f.claims[string(name)]
}

// conflicts reports whether a claim has a controller that is neither the set nor the member's pod,
// so that the retention policy cannot be applied.
func (f *facts) conflicts(claim *corev1.PersistentVolumeClaim, m member) bool {
	return len(f.wantedOwners(m)) > 0 && f.hasOtherController(claim, m)
}

func (f *facts) hasOtherController(claim *corev1.PersistentVolumeClaim, m member) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return isController(ref) && ref.UID != f.world.Set.UID && !f.isPod(ref, m)
	})
}

// ofFormerOwner reports whether a claim belongs to an earlier pod of the member or to an earlier
// set of this name, and is deleted with it, regardless of the current policy.
func (f *facts) ofFormerOwner(claim *corev1.PersistentVolumeClaim, m member) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return f.isFormer(ref, m) })
}

// isFormer reports whether a reference is to an earlier set or pod of the same name.
func (f *facts) isFormer(ref metav1.OwnerReference, m member) bool {
	return refersToSet(f.world.Set, ref) && ref.UID != f.world.Set.UID || f.refersToPod(ref, m) && !f.isPod(ref, m)
}

// wantedOwners are the owners that the retention policy gives to a member's claims:
//
//	whenScaled  whenDeleted  desired member  surplus member
//	Retain      Retain       none            none
//	Retain      Delete       the set         the set
//	Delete      Retain       none            its pod
//	Delete      Delete       the set         its pod
//
// If claims of removed members are deleted after a delay, the pod does not own them: they
// outlive it. Only the set can own the claims of a surplus member without a pod.
func (f *facts) wantedOwners(m member) []metav1.OwnerReference {
	const remove = v1.DeletePersistentVolumeClaimRetentionPolicyType
	policy, wanted := f.retention(), f.roster.Contains(m.ordinal)
	withPod := policy.WhenScaled == remove && policy.ScaledAfterSeconds == nil
	switch {
	case !wanted && withPod && m.pod != nil:
		return []metav1.OwnerReference{*metav1.NewControllerRef(m.pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
	case policy.WhenDeleted == remove:
		return []metav1.OwnerReference{identity.Owner(f.world.Set)}
	default:
		return nil
	}
}

func (f *facts) retention() v1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	if policy := f.world.Set.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		return *policy
	}
	return v1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
}

// refersToSet reports whether a reference names the set, or an earlier or later set of its name.
func refersToSet(set *v1.StatefulSet, ref metav1.OwnerReference) bool {
	return ref.APIVersion == v1.SchemeGroupVersion.String() && ref.Kind == v1.Kind && ref.Name == set.Name
}

// refersToPod reports whether a reference names the member's pod, or an earlier or later pod of its
// name.
func (f *facts) refersToPod(ref metav1.OwnerReference, m member) bool {
	return ref.APIVersion == corev1.SchemeGroupVersion.String() && ref.Kind == "Pod" &&
		ref.Name == identity.PodName(f.world.Set.Name, m.ordinal)
}

func (f *facts) isPod(ref metav1.OwnerReference, m member) bool {
	return m.pod != nil && ref.UID == m.pod.UID
}

func isController(ref metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }
