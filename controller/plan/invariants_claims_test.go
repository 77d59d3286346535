// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// createdClaims: a pod is created only with all its claims, none of which is going
// away, and claims that exist are not created again. Claims of pods that exist are
// created only for pods that wait for them.
func (j *judged) createdClaims() {
	for _, act := range planned[action.CreateMember](j) {
		created := j.newClaims(act.Claims)
		for _, template := range j.Set.Spec.VolumeClaimTemplates {
			name := j.claimName(template.Name, act.Ordinal)
			switch claim := j.claims[name]; {
			case claim == nil && !created[name]:
				j.broke("claims first", "pod %s is created without claim %s", act.Pod.Name, name)
			case claim != nil && claim.DeletionTimestamp != nil:
				j.broke("terminating claim", "pod %s is created with claim %s, which is terminating", act.Pod.Name, name)
			case claim != nil && slices.ContainsFunc(claim.OwnerReferences, j.former):
				j.broke("doomed claim", "pod %s is created with claim %s, which goes with its owners %+v", act.Pod.Name, name, claim.OwnerReferences)
			}
			if !slices.ContainsFunc(act.Pod.Spec.Volumes, func(volume corev1.Volume) bool {
				return volume.Name == template.Name && volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == name
			}) {
				j.broke("mounts", "pod %s does not mount claim %s", act.Pod.Name, name)
			}
		}
	}
	for _, act := range planned[action.CreateClaims](j) {
		j.newClaims(act.Claims)
		if pod := j.member(act.Ordinal); pod == nil || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
			j.broke("claims of pods", "%s for a pod that does not wait for it", act)
		}
	}
}

// newClaims checks the claims that an action creates and returns their names.
func (j *judged) newClaims(claims []*corev1.PersistentVolumeClaim) map[string]bool {
	names := map[string]bool{}
	for _, claim := range claims {
		if j.claims[claim.Name] != nil || names[claim.Name] {
			j.broke("second claim", "claim %s is created although it exists", claim.Name)
		}
		names[claim.Name] = true
		if got, want := ownersOf(j.evidence, claim), j.wantedOwners(claim, nil); !slices.Equal(got, want) {
			j.broke("owners", "claim %s is created with owners %v, want %v", claim.Name, got, want)
		}
	}
	return names
}

// claimOwners: references to the set or a pod are given and taken as the retention
// policy says, those of others stay, and a claim that has them already is left alone.
func (j *judged) claimOwners() {
	for _, act := range planned[action.SetClaimOwners](j) {
		claim := j.claims[act.Claim.Name]
		if claim == nil {
			continue
		}
		after := claim.DeepCopy()
		after.OwnerReferences = act.Owners
		got, want := ownersOf(j.evidence, after), j.wantedOwners(claim, j.condemned(act.Ordinal))
		if !slices.Equal(got, want) {
			j.broke("owners", "claim %s gets the owners %v, want %v", claim.Name, got, want)
		}
		if slices.Equal(got, ownersOf(j.evidence, claim)) {
			j.broke("idle write", "claim %s gets the owners that it has: %v", claim.Name, got)
		}
		if before, now := j.foreign(claim), j.foreign(after); !slices.Equal(before, now) {
			j.broke("owners of others", "claim %s had %v and gets %v", claim.Name, before, now)
		}
		if former := slices.IndexFunc(claim.OwnerReferences, j.former); former >= 0 {
			j.broke("former owner", "claim %s is changed although it belongs to %+v, which is no more", claim.Name, claim.OwnerReferences[former])
		}
	}
}

// condemned is the pod of an ordinal that is not wanted, nil if the ordinal is.
func (j *judged) condemned(ordinal int) *corev1.Pod {
	if j.wanted(ordinal) {
		return nil
	}
	return j.member(ordinal)
}

func (f evidence) foreign(claim *corev1.PersistentVolumeClaim) (refs []string) {
	for _, ref := range claim.OwnerReferences {
		if !f.ours(ref) {
			refs = append(refs, ref.Kind+"/"+ref.Name)
		}
	}
	return refs
}

// former reports whether a reference is to an earlier set or pod.
func (f evidence) former(ref metav1.OwnerReference) bool {
	if ref.Kind == "Pod" {
		pod := f.pods[ref.Name]
		return pod == nil || pod.UID != ref.UID || !f.mine(pod)
	}
	return strings.HasPrefix(ref.APIVersion, v1.SchemeGroupVersion.Group) && ref.UID != f.Set.UID
}

func (f evidence) retention() v1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	return *f.Set.Spec.PersistentVolumeClaimRetentionPolicy
}

// wantedOwners are our references that a claim should have: condemned is the pod of
// its member if that is not wanted. A claim that another controller has gets none.
func (f evidence) wantedOwners(claim *corev1.PersistentVolumeClaim, condemned *corev1.Pod) []owner {
	if slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return !f.ours(ref) && *ref.Controller }) {
		return nil
	}
	policy := f.retention()
	switch {
	case condemned != nil && policy.WhenScaled == v1.DeletePersistentVolumeClaimRetentionPolicyType && policy.ScaledAfterSeconds == nil:
		return []owner{{condemned.UID, true}}
	case policy.WhenDeleted == v1.DeletePersistentVolumeClaimRetentionPolicyType:
		return []owner{{f.Set.UID, true}}
	default:
		return nil
	}
}
