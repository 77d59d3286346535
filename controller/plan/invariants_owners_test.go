// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// keepsClaims: no pod is removed that has a claim which stays and would be deleted with the pod or
// the set.
func (j *judged) keepsClaims() {
	for _, act := range planned[action.DeletePod](j) {
		for _, claim := range j.Claims {
			if owner := j.exposing(claim); owner != "" && !j.isShared(claim) && strings.HasSuffix(claim.Name, "-"+act.Pod.Name) {
				j.broke("claim of pod", "pod %s is removed (%s) although claim %s stays and belongs to %s",
					act.Pod.Name, act.Reason, claim.Name, owner)
			}
		}
	}
}

// isShared reports whether an older set has a claim, too.
func (f evidence) isShared(claim *corev1.PersistentVolumeClaim) bool {
	base, _, _ := identity.ParsePodName(claim.Name)
	return f.Rivals[strings.TrimSuffix(base, "-"+f.Set.Name)] != ""
}

// exposedClaims are the claims that would be deleted with an owner although the policy keeps them.
func (f evidence) exposedClaims() (all []string) {
	for _, claim := range f.Claims {
		if owner := f.exposing(claim); owner != "" {
			all = append(all, fmt.Sprintf("claim %s belongs to %s", claim.Name, owner))
		}
	}
	return all
}

// exposing is an owner with which a claim would be deleted although the policy keeps it, empty if
// there is none.
func (f evidence) exposing(claim *corev1.PersistentVolumeClaim) string {
	base, ordinal, named := identity.ParsePodName(claim.Name)
	if !named || !strings.HasSuffix(base, "-"+f.Set.Name) || claim.DeletionTimestamp != nil ||
		slices.ContainsFunc(claim.OwnerReferences, f.former) {
		return ""
	}
	policy := f.retention()
	goesWithPod := !f.wanted(ordinal) && f.member(ordinal) != nil && policy.ScaledAfterSeconds == nil &&
		policy.WhenScaled == v1.DeletePersistentVolumeClaimRetentionPolicyType
	goesWithSet := goesWithPod || policy.WhenDeleted == v1.DeletePersistentVolumeClaimRetentionPolicyType
	for _, ref := range claim.OwnerReferences {
		switch {
		case ref.UID == f.Set.UID && !goesWithSet, f.refersToMember(ref, ordinal) && !goesWithPod:
			return ref.Kind + "/" + ref.Name
		}
	}
	return ""
}

func (f evidence) refersToMember(ref metav1.OwnerReference, ordinal int) bool {
	pod := f.member(ordinal)
	return pod != nil && ref.UID == pod.UID
}

// removesOwners is a planner that removes the pod of a claim which has yet to lose an owner.
func removesOwners(world World, p Plan) Plan {
	f := gather(world)
	for _, claim := range world.Claims {
		if f.exposing(claim) == "" {
			continue
		}
		if _, ordinal, _ := identity.ParsePodName(claim.Name); f.member(ordinal) != nil {
			p.Chains = append(slices.Clone(p.Chains),
				action.Chain{action.DeletePod{Ordinal: ordinal, Pod: action.Exact(f.member(ordinal)), Reason: action.DeleteOnRequest}})
			return p
		}
	}
	return p
}
