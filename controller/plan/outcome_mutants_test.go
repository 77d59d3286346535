// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// sequencesPerOutcome is within how many sequences the outcome of a wrong planner has to show that it is wrong.
const sequencesPerOutcome = 600

// promiseBreaker is a planner that breaks a promise.
type promiseBreaker struct {
	// oracle is the outcome oracle that knows the promise, theme what the sequences are about that show it.
	oracle, theme string
	corrupt       func(World, Plan) Plan
}

func promiseBreakers() map[string]promiseBreaker {
	return map[string]promiseBreaker{
		"creates the highest member first":       {"order", "growing", createsHighest},
		"scales down from the lowest":            {"scale-in", "removed", scalesFromLowest},
		"has no canaries":                        {"turn", "ordered", inOrder(func(o *v1.UpdateOrder) { o.First = nil })},
		"takes canaries in the order of ordinal": {"turn", "ordered", inOrder(func(o *v1.UpdateOrder) { slices.Reverse(o.First) })},
		"takes the leader with the others":       {"turn", "ordered", inOrder(func(o *v1.UpdateOrder) { o.Last = nil })},
		"updates in any order of Recreate":       {"strategy", "drained", recreatesEarly},
		"updates on its own under OnDelete":      {"strategy", "undone", updatesOnDelete},
		"ignores maxUnavailable":                 {"budget", "drained", ignoresBudget},
		"restarts members beyond the budget":     {"budget", "drained", serving},
		"asks gates of all members at once":      {"budget", "gated", asksAll},
		"replaces all on request at once": {
			"budget", "broken", alsoReplacing(func(f evidence, n int, pod *corev1.Pod) bool { return f.serves(n) && f.asked(pod) })},
		"removes more at a time than may go": {"pace", "ending", unbounded},
		"keeps surplus members": {
			"surplus", "broken", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteForScaleDown) })},
		"writes owners of claims without need": {
			"loop", "disks", ownsClaims(func([]metav1.OwnerReference, *v1.StatefulSet) []metav1.OwnerReference { return nil })},
		"drains members that stay as they are": {"loop", "drained", drainsMore},
		"updates although it is paused":        {"paused", "paused", func(w World, p Plan) Plan { return doing(p, unpaused(w)) }},
		"creates members of a pause updated":   {"paused", "paused", createsUpdated},
		"begins with the second step":          {"approval", "stepped", onSteps(secondStep)},
		"goes on without a promotion":          {"approval", "stepped", onSteps(nextStep)},
		"goes on with an aborted update":       {"undone", "undone", goesOn},
		"never forgets a rollout":              {"rollback", "failing", keepsRollout},
		"takes each True for an answer":        {"gate", "gated", onPods(func(pod *corev1.Pod) { rename(pod, corev1.ConditionTrue) })},
		"takes a No for an answer":             {"gate", "gated", onPods(func(pod *corev1.Pod) { rename(pod, corev1.ConditionFalse) })},
		"does not wait for gates":              {"gate", "gated", onSet(withoutPatience)},
		"is always ready":                      {"condition", "broken", alwaysReady},
		"is always available":                  {"condition", "broken", alwaysAvailable},
		"never stops to move": {
			"condition", "failing", func(w World, p Plan) Plan { p.Status.LastProgressTime = &metav1.Time{Time: w.Now}; return p }},
		"completes an update in the middle of its steps": {"revision", "stepped", onSteps(func(_ World, p Plan, _ *v1.RolloutStatus) Plan {
			p.Status.CurrentRevision = p.Status.UpdateRevision
			return p
		})},
		"counts pods that do not exist":          {"status", "stepped", func(_ World, p Plan) Plan { p.Status.AvailableReplicas++; return p }},
		"does not observe generations":           {"status", "patient", func(_ World, p Plan) Plan { p.Status.ObservedGeneration--; return p }},
		"deletes claims that no pod has mounted": {"disk", "disks", deletesUnmounted},
	}
}

// TestMutantsAreFoundByOutcomes proves that the oracles say something: each planner that breaks a promise is
// found, and by the oracle that knows the promise.
func TestMutantsAreFoundByOutcomes(t *testing.T) {
	drawing(t, sequencesPerOutcome)
	setFlag(t, "rapid.shrinktime", "0s")
	for name, m := range promiseBreakers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports := regexp.MustCompile(`\[outcome ` + m.oracle + `\]`)
			compute := func(world World) Plan { return m.corrupt(world, Compute(world)) }
			if !isFound(t, func(t *rapid.T) { playOutcome(t, compute, reports, outcomeThemes[m.theme]) }) {
				t.Errorf("the oracle %q reports none of %d sequences of the planner that %s", m.oracle, sequencesPerOutcome, name)
			}
		})
	}
}

// isFound reports whether a sequence fails.
func isFound(t *testing.T, play func(*rapid.T)) bool {
	t.Helper()
	found := &catcher{TB: t}
	func() {
		defer func() {
			if stopped := recover(); stopped != nil && stopped != found {
				panic(stopped)
			}
		}()
		rapid.Check(found, play)
	}()
	return found.failed
}

func secondStep(_ World, p Plan, r *v1.RolloutStatus) Plan {
	r.Step = max(r.Step, 2)
	return p
}

// nextStep goes on as soon as a step has begun.
func nextStep(w World, p Plan, r *v1.RolloutStatus) Plan {
	if before := w.Set.Status.Rollout; before != nil && before.Revision == r.Revision && before.Step == r.Step {
		r.Step++
	}
	return p
}

func keepsRollout(w World, p Plan) Plan {
	if w.Set.Status.Rollout != nil {
		p.Status.Rollout = w.Set.Status.Rollout
	}
	return p
}

// asksAll is the plan of a set without a bound, as far as it asks gates.
func asksAll(w World, p Plan) Plan {
	return onSet(func(set *v1.StatefulSet) {
		if r := set.Spec.UpdateStrategy.RollingUpdate; r != nil {
			r.MaxUnavailable = new(intstr.FromInt32(9))
		}
	})(w, p)
}
