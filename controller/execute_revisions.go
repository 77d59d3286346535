// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// createRevision emits no event, because a revision concerns only the set.
func (e *execution) createRevision(ctx context.Context, revision *appsv1.ControllerRevision) error {
	return e.add(ctx, revisionsResource, subject{kind: "revision", name: revision.Name}, revision)
}

func (e *execution) raiseRevision(ctx context.Context, act action.RaiseRevision) error {
	what := subject{kind: "revision", name: act.Revision.Name}
	return e.change(ctx, revisionsResource, what, act.Revision, change{revision: &act.To})
}

func (e *execution) adoptRevision(ctx context.Context, act action.AdoptRevision) error {
	return e.adopt(ctx, revisionsResource, subject{part: "owner of ", kind: "revision", name: act.Revision.Name}, act.Revision)
}

// ownAnchor is as careful as an adoption: a set that is being deleted without its dependents must
// not become the owner of the anchor, which would then be deleted with it.
func (e *execution) ownAnchor(ctx context.Context, act action.OwnAnchor) error {
	return e.adoptAs(ctx, revisionsResource, subject{part: "owners of ", kind: "revision", name: act.Anchor.Name}, act.Anchor,
		identity.AnchorOwner(e.set))
}

func (e *execution) deleteRevision(ctx context.Context, act action.DeleteRevision) error {
	return e.remove(ctx, revisionsResource, subject{kind: "revision", name: act.Revision.Name}, act.Revision)
}
