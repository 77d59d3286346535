// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// reclaimMutants are wrong in which claims of removed members are deleted, and when.
func reclaimMutants() map[string]scripted {
	marked := func(note string) func(World, Plan) Plan {
		return each(func(a action.MarkClaim) []action.Action {
			_, is := a.Annotations[note]
			return only(a, !is)
		})
	}
	return map[string]scripted{
		"deletes claims before they are due": {"reclaim-scaled", mutant{"reclaim", func(w World, p Plan) Plan {
			w.Now = w.Now.Add(15 * time.Second)
			return deleting(p, Compute(w))
		}}},
		"believes the dates of other controllers": {
			"clock-behind-claims", mutant{"reclaim", onClaims(func(_ World, claim *corev1.PersistentVolumeClaim) {
				for i := range claim.ManagedFields {
					claim.ManagedFields[i].Time = new(metav1.Unix(0, 0))
				}
				claim.CreationTimestamp = metav1.Time{}
			})}},
		"believes dates of which the host says nothing": {
			"clock-unproven-claims", mutant{"reclaim", onClaims(func(_ World, claim *corev1.PersistentVolumeClaim) {
				claim.ManagedFields = retiredFields(claim.CreationTimestamp.Time)
			})}},
		"deletes claims that no pod of the set has mounted": {"reclaim-unmarked", mutant{"reclaim", deletesUnmounted}},
		"deletes claims of an earlier set": {
			"reclaim-recreated-set", mutant{"reclaim", onClaims(func(w World, claim *corev1.PersistentVolumeClaim) {
				if claim.Annotations[ownerNote] != "" {
					claim.Annotations = action.Merged(claim.Annotations, map[string]string{ownerNote: "web/" + string(w.Set.UID)})
				}
			})}},
		"deletes claims that others control": {"reclaim-stolen", mutant{"reclaim", onClaims(func(_ World, claim *corev1.PersistentVolumeClaim) {
			if claim.Annotations[retiredNote] != "" {
				claim.OwnerReferences = nil
			}
		})}},
		"deletes no claims": {
			"reclaim-scaled", mutant{"reclaim", each(func(action.DeleteClaim) []action.Action { return nil })}},
		"deletes claims without a version": {"reclaim-scaled",
			mutant{"exact", each(func(a action.DeleteClaim) []action.Action { a.Claim.ResourceVersion = ""; return []action.Action{a} })}},
		"forgets to note the set on claims":  {"reclaim-scaled", mutant{"converge", marked(ownerNote)}},
		"forgets to date and to keep claims": {"reclaim-scaled", mutant{"retires", marked(retiredNote)}},
		"takes the date off claims that are being deleted": {"reclaim-returns-late", mutant{"returns", func(w World, p Plan) Plan {
			w.Claims = copies(w.Claims)
			for _, claim := range w.Claims {
				claim.DeletionTimestamp = nil
			}
			p.Finally = Compute(w).Finally
			return p
		}}},
		"creates members whose claims are dated": {"reclaim-returns-first", mutant{"returns first", func(w World, p Plan) Plan {
			w.Claims = copies(w.Claims)
			for _, claim := range w.Claims {
				claim.Annotations = map[string]string{ownerNote: claim.Annotations[ownerNote]}
			}
			return doing(p, Compute(w))
		}}},
		"dates claims in the future": {"reclaim-scaled", mutant{"retired since", each(func(a action.MarkClaim) []action.Action {
			if value := a.Annotations[retiredNote]; value != nil {
				a.Annotations = map[string]*string{retiredNote: new("2026-12-31T00:00:00Z")}
			}
			return []action.Action{a}
		})}},
		"tells nothing of what is due": {"reclaim-scaled", mutant{"due", func(_ World, p Plan) Plan { p.Status.Reclaims = nil; return p }}},
		"removes members whose claims do not name the set": {"reclaim-unmarked-yet", mutant{"owned first", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			w.Set.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled = v1.RetainPersistentVolumeClaimRetentionPolicyType
			return doing(p, Compute(w))
		}}},
		"does not look when claims are due": {"reclaim-scaled", mutant{"next look", func(w World, p Plan) Plan {
			if len(p.Status.Reclaims) > 0 {
				p.RequeueAfter = 0
			}
			return p
		}}},
	}
}

// deleting is the plan with the claims deleted that another deletes.
func deleting(p, other Plan) Plan {
	for _, act := range other.All() {
		if a, ok := act.(action.DeleteClaim); ok && !slices.Contains(p.All(), act) {
			p = also(p, a)
		}
	}
	return p
}

// onClaims deletes the claims that the planner would delete if it saw other ones.
func onClaims(see func(World, *corev1.PersistentVolumeClaim)) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		w.Claims = copies(w.Claims)
		for _, claim := range w.Claims {
			see(w, claim)
		}
		return deleting(p, Compute(w))
	}
}

// deletesUnmounted takes all claims for such as a pod of the set has mounted.
func deletesUnmounted(w World, p Plan) Plan {
	return onClaims(func(w World, claim *corev1.PersistentVolumeClaim) {
		if claim.Annotations[retiredNote] == "" {
			claim.Annotations = map[string]string{ownerNote: "web/" + string(w.Set.UID), retiredNote: "2025-01-01T00:00:00Z"}
			claim.ManagedFields = retiredFields(claim.CreationTimestamp.Time)
		}
	})(w, p)
}
