// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// stepMutants are wrong in how updates go by steps, and back.
func stepMutants() map[string]mutant {
	return map[string]mutant{
		"reaches more members than the step asks for": {"quota", onSteps(func(w World, p Plan, r *v1.RolloutStatus) Plan {
			r.Released = nil
			for _, ordinal := range gather(w).ordinals {
				r.Released = append(r.Released, v1.OrdinalRange{First: int32(ordinal)})
			}
			return p
		})},
		"leaves out a step":           {"steps", onSteps(func(_ World, p Plan, r *v1.RolloutStatus) Plan { r.Step += 2; return p })},
		"begins with the second step": {"steps", onSteps(func(w World, p Plan, r *v1.RolloutStatus) Plan { r.Step = max(r.Step, 2); return p })},
		"goes on before the step is done": {"step done", onSteps(func(w World, p Plan, r *v1.RolloutStatus) Plan {
			if before := w.Set.Status.Rollout; before != nil && before.Revision == r.Revision && before.Step == r.Step {
				r.Step++
			}
			return p
		})},
		"bakes without its members": {
			"bake", onSteps(func(w World, p Plan, r *v1.RolloutStatus) Plan { r.BakeStartTime = &metav1.Time{Time: w.Now}; return p })},
		"forgets since when it bakes": {"bake", onSteps(func(_ World, p Plan, r *v1.RolloutStatus) Plan { r.BakeStartTime = nil; return p })},
		"forgets what was decided": {"decisions", onSteps(func(_ World, p Plan, r *v1.RolloutStatus) Plan {
			r.PromotedStep, r.PromotedAll, r.Aborted = 0, false, false
			return p
		})},
		"decides by itself": {"decisions", onSteps(func(_ World, p Plan, r *v1.RolloutStatus) Plan { r.PromotedStep = 20; return p })},
		"keeps decisions about the update before": {"decisions", onSteps(func(w World, p Plan, r *v1.RolloutStatus) Plan {
			if before := w.Set.Status.Rollout; before != nil {
				r.PromotedStep, r.PromotedAll, r.Aborted = before.PromotedStep, before.PromotedAll, before.Aborted
			}
			return p
		})},
		"rolls back what has not failed": {"rollback", onSteps(func(_ World, p Plan, r *v1.RolloutStatus) Plan {
			r.Rollback, r.Failure = true, &v1.RolloutFailure{}
			return p
		})},
		"updates whom the status does not name": {"reason to delete", onSteps(func(w World, p Plan, r *v1.RolloutStatus) Plan {
			f := gather(w)
			for _, ordinal := range f.ordinals {
				if pod := f.member(ordinal); pod != nil && !names(r.Released, ordinal) && pod.DeletionTimestamp == nil && !isRemoved(p, pod) {
					return also(p, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteForUpdate})
				}
			}
			return p
		})},
		"creates all members updated": {"tracked creation", onSteps(func(w World, p Plan, _ *v1.RolloutStatus) Plan {
			return each(func(a action.CreateMember) []action.Action {
				a.Pod = identity.Pod(w.Set, &w.Set.Spec.Template, p.Status.UpdateRevision, a.Ordinal)
				return []action.Action{a}
			})(w, p)
		})},
		"is ready between steps": {"ready", onSteps(func(w World, p Plan, _ *v1.RolloutStatus) Plan { return alwaysReady(w, p) })},
		"does not look when the bake ends": {"next look", onSteps(func(_ World, p Plan, r *v1.RolloutStatus) Plan {
			if r.BakeStartTime != nil {
				p.RequeueAfter = 0
			}
			return p
		})},
	}
}

// bakesAnew begins to bake at every look.
func bakesAnew(w World, p Plan, r *v1.RolloutStatus) Plan {
	if r.BakeStartTime != nil {
		r.BakeStartTime = &metav1.Time{Time: w.Now.Truncate(time.Second)}
	}
	return p
}

// countsWaiting counts what an update has waited for others as if a member had not served.
func countsWaiting(w World, p Plan) Plan {
	before := w.Set.Status.Rollout
	if before == nil || before.ProgressTime != nil || before.MostAvailable == 0 {
		return p
	}
	w.Set = w.Set.DeepCopy()
	w.Set.Status.Rollout.ProgressTime = &metav1.Time{Time: w.Now.Add(-gather(w).updateDeadline())}
	return Compute(w)
}

// goesOn takes an update further that was aborted.
func goesOn(w World, p Plan) Plan {
	if before := w.Set.Status.Rollout; before == nil || !before.Aborted {
		return p
	}
	w.Set = w.Set.DeepCopy()
	w.Set.Status.Rollout.Aborted, w.Set.Status.Rollout.PromotedAll = false, true
	return doing(p, Compute(w))
}

// onSteps changes the plans of updates that go by steps.
func onSteps(change func(World, Plan, *v1.RolloutStatus) Plan) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		if len(gather(w).steps()) == 0 || p.Status.Rollout == nil || p.Status.Rollout.Step == 0 {
			return p
		}
		p.Status.Rollout = p.Status.Rollout.DeepCopy()
		return change(w, p, p.Status.Rollout)
	}
}
