// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// claimMutants are wrong in how claims and members follow the claim templates.
func claimMutants() map[string]mutant {
	as := func(change func(*v1.StatefulSet)) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			change(w.Set)
			return doing(p, Compute(w))
		}
	}
	inPlace := func(set *v1.StatefulSet) {
		set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
	}
	return map[string]mutant{
		"grows claims that nobody asked to be grown": {"growth not asked for", as(func(set *v1.StatefulSet) {
			if set.Spec.VolumeClaimUpdate != nil {
				inPlace(set)
			}
		})},
		"grows the claims of all members at once": {"growth budget", as(func(set *v1.StatefulSet) {
			if set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType {
				set.Spec.UpdateStrategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{MaxUnavailable: new(intstr.FromInt32(1000))}
			}
		})},
		"makes claims smaller": {"request falls", grows(func(f evidence, _, claim *corev1.PersistentVolumeClaim) bool { return f.free(claim) })},
		"grows claims that are not bound, or of others": {
			"claim of others", grows(func(f evidence, template, claim *corev1.PersistentVolumeClaim) bool {
				untold, _ := lag(template, claim)
				return !f.free(claim) && len(untold) > 0
			})},
		"writes to claims that are as they should be": {"idle growth", func(w World, p Plan) Plan {
			f := gather(w)
			if !f.growsInPlace() {
				return p
			}
			f.eachClaim(func(ordinal int, template, claim *corev1.PersistentVolumeClaim) {
				if untold, _ := lag(template, claim); f.free(claim) && len(untold) == 0 {
					p = also(p, action.UpdateClaim{Ordinal: ordinal, Claim: action.Exact(claim), Labels: map[string]string{"tier": "gold"}})
				}
			})
			return p
		}},
		"forgets to grow claims": {"converge", each(func(action.UpdateClaim) []action.Action { return nil })},
		"forgets the labels of claims": {
			"converge", each(func(a action.UpdateClaim) []action.Action { return only(a, a.Size != nil || a.AttributesClass != "") })},
		"grows claims without a version": {
			"exact", each(func(a action.UpdateClaim) []action.Action { a.Claim.ResourceVersion = ""; return []action.Action{a} })},
		"updates before claims have been told": {"update before growth", as(func(set *v1.StatefulSet) {
			if set.Spec.VolumeClaimUpdate != nil {
				set.Spec.VolumeClaimUpdate.Policy = v1.NewClaimsVolumeClaimUpdatePolicyType
			}
		})},
		"does not note the templates in pods": {"noted templates", each(func(a action.CreateMember) []action.Action {
			a.Pod = a.Pod.DeepCopy()
			delete(a.Pod.Annotations, v1.ClaimTemplatesAnnotation)
			return []action.Action{a}
		})},
		"notes the templates in pods of other sets": {"noted templates", as(func(set *v1.StatefulSet) {
			if set.Spec.VolumeClaimUpdate == nil {
				set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.NewClaimsVolumeClaimUpdatePolicyType}
			}
		})},
		"recreates members that mount what they should": {"reason to delete", func(w World, p Plan) Plan {
			f := gather(w)
			for _, ordinal := range f.ordinals {
				if pod := f.member(ordinal); f.followsTemplates() && pod != nil && pod.DeletionTimestamp == nil && !isRemoved(p, pod) &&
					!f.mountsOtherwise(pod, ordinal) {
					p = also(p, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteForClaims})
				}
			}
			return p
		}},
		"leaves members with the claims of earlier templates": {
			"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteForClaims) })},
		"counts claims as grown that are not": {"claims told", func(_ World, p Plan) Plan {
			for i := range p.Status.VolumeClaims {
				p.Status.VolumeClaims[i].UpToDate = p.Status.VolumeClaims[i].Claims
			}
			return p
		}},
	}
}

// grows changes the size of claims that are chosen.
func grows(which func(f evidence, template, claim *corev1.PersistentVolumeClaim) bool) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		f := gather(w)
		if !f.growsInPlace() {
			return p
		}
		size := resource.MustParse("1Mi")
		f.eachClaim(func(ordinal int, template, claim *corev1.PersistentVolumeClaim) {
			if which(f, template, claim) {
				p = also(p, action.UpdateClaim{Ordinal: ordinal, Claim: action.Exact(claim), Size: &size})
			}
		})
		return p
	}
}
