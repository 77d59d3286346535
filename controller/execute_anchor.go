// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// createAnchor creates what is of the set alone, as a revision is: there is no event for either.
func (e *execution) createAnchor(ctx context.Context, action plan.CreateAnchor) error {
	return e.add(ctx, revisionsResource, subject{kind: "revision", name: action.Anchor.Name}, action.Anchor)
}

// ownAnchor is as careful as adopting: what is given back to a set that is being deleted without what
// belongs to it would be deleted.
func (e *execution) ownAnchor(ctx context.Context, action plan.OwnAnchor) error {
	return e.adoptAs(ctx, revisionsResource, subject{part: "owners of ", kind: "revision", name: action.Anchor.Name}, action.Anchor, identity.AnchorOwner(e.set))
}

// setObjectOwners replaces the owners of an object. The answer is remembered, so that it is not taken for
// a change by somebody else.
func (e *execution) setObjectOwners(ctx context.Context, action plan.SetObjectOwners) error {
	what := subject{part: "owners of ", kind: action.Kind.Kind, name: action.At.Name}
	objects, err := e.metadataOf(action.Kind)
	if err != nil {
		return err
	}
	owners := action.Owners
	if owners == nil {
		owners = []metav1.OwnerReference{}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": action.At.UID, "resourceVersion": action.At.ResourceVersion, "ownerReferences": owners,
	}})
	if err != nil {
		return fmt.Errorf("building the owners of %s: %w", what, err)
	}
	return e.patchObject(ctx, what, objects, action.Kind, action.At, patch)
}
