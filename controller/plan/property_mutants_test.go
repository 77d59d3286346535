// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// sequencesPerMutant is within how many sequences a wrong planner has to be found out.
const sequencesPerMutant = 20000

// mutant is a planner that is wrong in one way: what it does to the plans of the
// right one breaks the rule.
type mutant struct {
	rule    string
	corrupt func(World, Plan) Plan
}

func mutants() map[string]mutant {
	return map[string]mutant{
		"deletes without a UID": {
			"exact", each(func(a action.DeletePod) []action.Action { a.Pod.UID = ""; return []action.Action{a} })},
		"deletes twice":                        {"once", each(func(a action.DeletePod) []action.Action { return []action.Action{a, a} })},
		"creates at once after deleting":       {"old one gone", each(createdAtOnce)},
		"creates the highest member first":     {"predecessor", createsHighest},
		"ignores the partition":                {"reason to delete", updatesBelowPartition},
		"recreates one by one":                 {"at once", oneByOne},
		"lets one refusal hold up all members": {"chains", oneByOne},
		"deletes pods of others":               {"delete", deletesTaken},
		"deletes live revisions":               {"live revision", deletesRevisions},
		"names a revision anew each time":      {"names", renames},
		"is always ready":                      {"ready", alwaysReady},
		"is never stalled for long": {
			"progress", func(_ World, p Plan) Plan { return saying(p, v1.ReasonProgressDeadlineExceeded, v1.ReasonUpdating) }},
		"moves all the time": {
			"progress", func(w World, p Plan) Plan { p.Status.LastProgressTime = &metav1.Time{Time: w.Now}; return p }},
		"works on what is held":       {"held set", worksOnHeld},
		"wipes conditions":            {"conditions of others", wipesConditions},
		"counts what is not there":    {"counters", func(_ World, p Plan) Plan { p.Status.AvailableReplicas++; return p }},
		"says an old generation":      {"generation", func(_ World, p Plan) Plan { p.Status.ObservedGeneration--; return p }},
		"repeats what others write":   {"plain", func(_ World, p Plan) Plan { p.Waiting += "\x1b[2J"; return p }},
		"never asks for another sync": {"next look", func(_ World, p Plan) Plan { p.RequeueAfter = 0; return p }},
		"changes its world":           {"pure", func(w World, p Plan) Plan { w.Set.Generation++; return p }},
		"works for a deleted set":     {"deleted set", worksForDeleted},
		"does nothing":                {"converge", func(_ World, p Plan) Plan { p.First, p.Chains, p.Finally = nil, nil, nil; return p }},
		"forgets to repair labels":    {"converge", each(func(action.RepairPod) []action.Action { return nil })},
		"forgets to scale down": {
			"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteForScaleDown) })},
		"forgets to update": {
			"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteForUpdate) })},
		"forgets to adopt":            {"converge", each(func(action.AdoptPod) []action.Action { return nil })},
		"forgets to truncate history": {"history", each(func(action.DeleteRevision) []action.Action { return nil })},
	}
}

// TestMutantsAreFound proves that the invariants say something: every planner that
// breaks one is found out, and by the rule that it breaks.
func TestMutantsAreFound(t *testing.T) {
	drawing(t, sequencesPerMutant)
	setFlag(t, "rapid.shrinktime", "0s")
	for _, f := range families() {
		for name, m := range f.mutants {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				compute := func(world World) Plan { return m.corrupt(world, Compute(world)) }
				if !isFound(t, func(t *rapid.T) { playDrawn(t, compute, m.rule+"]", themes[f.theme]) }) {
					t.Errorf("no sequence of %d shows by the rule %q that the planner %s", sequencesPerMutant, m.rule, name)
				}
			})
		}
	}
}

// family is some mutants, and the theme of the sequences that show them, empty if those about everything do.
type family struct {
	theme   string
	mutants map[string]mutant
}

func families() []family {
	return []family{
		{"", mutants()},
		{"", unblockMutants()},
		{"", pausedMutants()},
		{"claims", claimMutants()},
		{"claims", ownerMutants()},
		{"sudden ends", endingMutants()},
		{"order", stepMutants()},
		{"order", orderMutants()},
		{"holes", holesMutants()},
		{"holes", rateMutants()},
		{"claims", overrideMutants()},
		{"holes", replaceMutants()},
		{"gates", gateMutants()},
		{"secrets", identityMutants()},
		{"in place", inPlaceMutants()},
		{"resources", resizeMutants()},
		{"budgets", drainMutants()},
	}
}

// catcher takes the failure of a check, without failing itself.
type catcher struct {
	rapid.TB
	failed bool
}

func (v *catcher) Errorf(string, ...any) { v.failed = true }
func (v *catcher) Logf(string, ...any)   {}
func (v *catcher) Log(...any)            {}
func (v *catcher) Failed() bool          { return v.failed }
func (v *catcher) FailNow()              { panic(v) }

// each corrupts the actions of one kind.
func each[A action.Action](corrupt func(A) []action.Action) func(World, Plan) Plan {
	return func(_ World, p Plan) Plan {
		p.First, p.Chains, p.Finally = eachOf(p.First, corrupt), eachIn(p.Chains, corrupt), eachIn(p.Finally, corrupt)
		return p
	}
}

func eachIn[A action.Action](chains []action.Chain, corrupt func(A) []action.Action) (all []action.Chain) {
	for _, chain := range chains {
		if actions := eachOf(chain, corrupt); len(actions) > 0 {
			all = append(all, actions)
		}
	}
	return all
}

func eachOf[A action.Action](chain action.Chain, corrupt func(A) []action.Action) (actions action.Chain) {
	for _, act := range chain {
		if a, ok := act.(A); ok {
			actions = append(actions, corrupt(a)...)
		} else {
			actions = append(actions, act)
		}
	}
	return actions
}

func only(act action.Action, keep bool) []action.Action {
	if keep {
		return []action.Action{act}
	}
	return nil
}

// also is the plan with more to do at its end.
func also(p Plan, actions ...action.Action) Plan {
	if len(actions) > 0 {
		p.Chains = append(slices.Clip(p.Chains), actions)
	}
	return p
}

func createdAtOnce(a action.DeletePod) []action.Action {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: a.Pod.Name}, Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}}
	return []action.Action{a, action.CreateMember{Ordinal: a.Ordinal, Pod: pod}}
}

func scalesFromLowest(world World, p Plan) Plan {
	f := gather(world)
	return each(func(a action.DeletePod) []action.Action {
		for _, ordinal := range f.surplus() {
			if pod := f.member(ordinal); a.Reason == action.DeleteForScaleDown && f.ordered() && pod.DeletionTimestamp == nil {
				a.Ordinal, a.Pod = ordinal, action.Exact(pod)
			}
		}
		return []action.Action{a}
	})(world, p)
}

// created is the creation of a member as it would be at the present revision.
func created(world World, p Plan, ordinal int) action.Action {
	return action.CreateMember{Ordinal: ordinal, Claims: identity.Claims(world.Set, ordinal),
		Pod: identity.Pod(world.Set, &world.Set.Spec.Template, p.Status.UpdateRevision, ordinal)}
}

// missing are the members that could be created, the lowest first.
func missing(world World) (ordinals []int) {
	f := gather(world)
	for _, ordinal := range f.ordinals {
		if f.pods[f.podName(ordinal)] == nil {
			ordinals = append(ordinals, ordinal)
		}
	}
	return ordinals
}

func createsHighest(world World, p Plan) Plan {
	return each(func(a action.CreateMember) []action.Action {
		if ordinals := missing(world); world.Set.Spec.PodManagementPolicy == v1.OrderedReadyPodManagement && len(ordinals) > 0 {
			return []action.Action{created(world, p, ordinals[len(ordinals)-1])}
		}
		return []action.Action{a}
	})(world, p)
}

func createsOnBadClaims(world World, p Plan) Plan {
	world.Claims = copies(world.Claims)
	for _, claim := range world.Claims {
		claim.DeletionTimestamp = nil
	}
	return doing(p, Compute(world))
}
