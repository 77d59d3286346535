// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity/render"
)

// endingContext ends when it has been asked so often whether it has ended.
type endingContext struct {
	context.Context //nolint:containedctx // it is one

	left atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestAPlanWhoseTimeIsOverOnlyCreates asks for an update of three members, one of which has no pod, with
// less and less time to evaluate the expressions of the set.
func TestAPlanWhoseTimeIsOverOnlyCreates(t *testing.T) {
	world := worldWith(t, 3, func(h *host) {
		h.configure([]string{"identity=note"})
		allReady(h)
	})
	changed := world.Set.DeepCopy()
	changed.Generation++
	changed.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(3))
	changed.Spec.Template.Spec.Containers[0].Image = "another"
	world.Set = changed
	recorded := Compute(world)
	create, is := recorded.First[0].(action.CreateRevision)
	if !is {
		t.Fatalf("the plan begins with %v, want that it records the template", recorded.First)
	}
	create.Revision.UID = "new"
	world.Revisions = append(world.Revisions, create.Revision)
	world.Set.Status = recorded.Status
	world.Pods = world.Pods[:2]
	removes := func(p Plan) (removed []action.Action) {
		for _, act := range p.All() {
			if !creates(act) {
				removed = append(removed, act)
			}
		}
		return removed
	}
	if whole := Compute(world); whole.Stopped || len(removes(whole)) == 0 {
		t.Fatalf("without an end the plan is %v, want that it removes a pod", whole.All())
	}
	created := 0
	for left := range int64(40) {
		ctx := &endingContext{Context: t.Context()}
		ctx.left.Store(left)
		world.Evaluation = render.Within(ctx)
		p := Compute(world)
		if !p.Stopped {
			break
		}
		if removed := removes(p); len(removed) > 0 {
			t.Errorf("after %d questions: got %v, want nothing but creates", left, removed)
		}
		stalled := p.Status.Condition(v1.StatefulSetStalled)
		if stalled.Status != corev1.ConditionTrue || stalled.Reason != v1.ReasonRenderFailed ||
			!strings.Contains(stalled.Message, "evaluation did not complete in time") &&
				!strings.Contains(stalled.Message, "take too long to evaluate") {
			t.Errorf("after %d questions: got %+v, want Stalled with %s and that the evaluation took too long", left, stalled, v1.ReasonRenderFailed)
		}
		created += len(p.All())
	}
	if created == 0 {
		t.Error("no plan creates anything, want one whose time was over only after the missing pod was rendered")
	}
}
