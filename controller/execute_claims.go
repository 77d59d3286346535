// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan"
)

// createClaims creates the claims of one member at the same time. One that is
// there already was not seen by the planner, who has to judge it first.
func (e *execution) createClaims(ctx context.Context, claims []*corev1.PersistentVolumeClaim) error {
	return joined(inParallel(ctx, len(claims), writesPerSet, func(i int) error { return e.createClaim(ctx, claims[i]) }))
}

func (e *execution) createClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	what := subject{kind: "claim", name: claim.Name}
	err := e.add(ctx, claimsResource, what, claim)
	if err == nil {
		e.tellSuccess(create, what)
	}
	return err
}

func (e *execution) updateClaim(ctx context.Context, action plan.UpdateClaim) error {
	what := subject{kind: "claim", name: action.Claim.Name}
	err := e.change(ctx, claimsResource, what, action.Claim, change{labels: present(action.Labels), annotations: present(action.Annotations), size: action.Size, attributesClass: action.AttributesClass})
	if err == nil {
		e.tellSuccess(update, what)
	}
	return err
}

func (e *execution) setClaimOwners(ctx context.Context, action plan.SetClaimOwners) error {
	owners := action.Owners
	if owners == nil {
		owners = []metav1.OwnerReference{}
	}
	what := subject{part: "owners of ", kind: "claim", name: action.Claim.Name}
	return e.change(ctx, claimsResource, what, action.Claim, change{owners: owners})
}

// markClaim notes what concerns nobody but the set: there is no event for it.
func (e *execution) markClaim(ctx context.Context, action plan.MarkClaim) error {
	what := subject{part: "annotations of ", kind: "claim", name: action.Claim.Name}
	return e.change(ctx, claimsResource, what, action.Claim, change{annotations: action.Annotations})
}

// deleteClaim deletes a claim that the set asks to have deleted, and its data.
func (e *execution) deleteClaim(ctx context.Context, action plan.DeleteClaim) error {
	what := subject{kind: "claim", name: action.Claim.Name}
	err := e.remove(ctx, claimsResource, what, action.Claim)
	if err == nil {
		e.tellSuccess(deletion, what)
	}
	return err
}
