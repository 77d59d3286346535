// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// ownerMutants are wrong in which claims they create members with, and in who owns these.
func ownerMutants() map[string]mutant {
	return map[string]mutant{
		"creates on terminating claims": {"terminating claim", createsOnBadClaims},
		"removes pods that own claims":  {"claim of pod", removesOwners},
		"takes claims although all retain": {
			"owners", ownsClaims(func(refs []metav1.OwnerReference, set *v1.StatefulSet) []metav1.OwnerReference {
				return append(refs, identity.Owner(set))
			})},
		"drops the owners of others": {
			"owners of others", ownsClaims(func([]metav1.OwnerReference, *v1.StatefulSet) []metav1.OwnerReference { return nil })},
		"forgets the owners of claims": {"converge", each(func(action.SetClaimOwners) []action.Action { return nil })},
		"creates without claims": {
			"claims first", each(func(a action.CreateMember) []action.Action { a.Claims = nil; return []action.Action{a} })},
		"sets owners without a version": {
			"exact", each(func(a action.SetClaimOwners) []action.Action { a.Claim.ResourceVersion = ""; return []action.Action{a} })},
		"forgets the claims of pending pods": {"converge", each(func(action.CreateClaims) []action.Action { return nil })},
	}
}

// endingMutants are wrong about pods that end by themselves.
func endingMutants() map[string]mutant {
	return map[string]mutant{
		"replaces at once what ends at once": {"back-off", func(w World, _ Plan) Plan { w.Cache.endings = nil; return Compute(w) }},
	}
}
