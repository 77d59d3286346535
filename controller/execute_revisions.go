// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"statefulset.dev/controller/plan"
)

func (e *execution) createRevision(ctx context.Context, action plan.CreateRevision) error {
	return e.add(ctx, revisionsResource, subject{kind: "revision", name: action.Revision.Name}, action.Revision)
}

func (e *execution) raiseRevision(ctx context.Context, action plan.RaiseRevision) error {
	what := subject{kind: "revision", name: action.Revision.Name}
	return e.change(ctx, revisionsResource, what, action.Revision, change{revision: &action.To})
}

func (e *execution) adoptRevision(ctx context.Context, action plan.AdoptRevision) error {
	return e.adopt(ctx, revisionsResource, subject{part: "owner of ", kind: "revision", name: action.Revision.Name}, action.Revision)
}

func (e *execution) deleteRevision(ctx context.Context, action plan.DeleteRevision) error {
	return e.remove(ctx, revisionsResource, subject{kind: "revision", name: action.Revision.Name}, action.Revision)
}
