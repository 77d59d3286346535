// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// TestMutantsAreFoundByScripts is TestMutantsAreFound for what random events lead to too
// seldom: the script of a sequence below testdata/sequences shows it each time.
func TestMutantsAreFoundByScripts(t *testing.T) {
	all := scriptedMutants()
	maps.Copy(all, reclaimMutants())
	maps.Copy(all, objectMutants())
	maps.Copy(all, retentionMutants())
	maps.Copy(all, removedTemplateMutants())
	maps.Copy(all, anchorMutants())
	maps.Copy(all, outputMutants())
	maps.Copy(all, generatedMutants())
	maps.Copy(all, budgetMutants())
	maps.Copy(all, livenessMutants())
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile("testdata/sequences/" + m.script + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			script, _, _ := strings.Cut(string(content), separator)
			got := complaintAbout(func(c *complaint) {
				c.rule = m.rule
				play(c, func(world World) Plan { return m.corrupt(world, Compute(world)) }, script)
			})
			if !strings.Contains(got, "["+m.rule+"]") {
				t.Errorf("the script %s says of a planner that %s %q, want a broken rule %q", m.script, name, got, m.rule)
			}
		})
	}
}

// scripted is a mutant, and the script that shows it.
type scripted struct {
	script string
	mutant
}

func scriptedMutants() map[string]scripted {
	return map[string]scripted{
		"keeps history when a member is refused": {"history-limit-refused", mutant{"history", func(_ World, p Plan) Plan {
			p.First, p.Chains, p.Finally = slices.Concat(p.First, slices.Concat(p.Chains...), slices.Concat(p.Finally...)), nil, nil
			return p
		}}},
		"writes records of claim templates to claims": {
			"claims-reserved-keys", mutant{"record of a template", each(func(a action.UpdateClaim) []action.Action {
				a.Annotations = action.Merged(a.Annotations, map[string]string{v1.RetiredAtAnnotation: "2026-01-01T00:00:00Z"})
				return []action.Action{a}
			})}},
		"removes all surplus members in one plan": {"rate-remove-share", mutant{"rate of removal", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			w.Set.Spec.ScaleStrategy = nil
			return doing(p, Compute(w))
		}}},
		"creates members that mount what is gone": {"claims-template-removed", mutant{"volume", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			if update := w.Set.Spec.VolumeClaimUpdate; update != nil && len(w.Set.Spec.VolumeClaimTemplates) == 1 {
				w.Set.Spec.VolumeClaimUpdate = nil
				p = doing(p, Compute(w))
			}
			return each(func(a action.CreateMember) []action.Action {
				a.Pod = a.Pod.DeepCopy()
				a.Pod.Annotations = map[string]string{v1.ClaimTemplatesAnnotation: identity.ClaimTemplates(w.Set)}
				return []action.Action{a}
			})(w, p)
		}}},
		"updates all in place to what one is": {"identity-in-place", mutant{"parameters in place", each(updatesAsOne)}},
		"leaves members that hang in place alone": {
			"inplace-hangs-parallel", mutant{"converge", ofHanging(func(action.UpdateInPlace) []action.Action { return nil })}},
		"brings those that hang to the update": {
			"inplace-hangs-parallel", mutant{"what a label says", ofHanging(func(a action.UpdateInPlace) []action.Action {
				a.Revision = "web-other"
				return []action.Action{a}
			})}},
		"grows claims from the highest": {
			"order-claims", mutant{"growth order", inOrder(func(o *v1.UpdateOrder) { *o = v1.UpdateOrder{} })}},
		"goes on updating what is rolled back": {"steps-aborted", mutant{"reason to delete", goesOn}},
		"does not go back": {"steps-aborted",
			mutant{"rolls back", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteForRollback) })}},
		"begins to bake at every look": {"steps-canary-evicted", mutant{"bake", onSteps(bakesAnew)}},
		"forgets that it rolls back": {"steps-deadline-rolled-back", mutant{"rollback", onSteps(func(w World, p Plan, r *v1.RolloutStatus) Plan {
			r.Rollback = r.Rollback && !w.Set.Status.Rollout.Rollback
			return p
		})}},
		"counts while it waits for an eviction": {"evict-blip", mutant{"rollback", countsWaiting}},
		"counts a bake that nobody saw end": {"steps-baked-unseen", mutant{"rollback", func(w World, p Plan) Plan {
			if before := w.Set.Status.Rollout; before == nil || before.BakeStartTime == nil {
				return p
			}
			w.Set = w.Set.DeepCopy()
			w.Set.Status.Rollout.BakeStartTime = nil
			return Compute(w)
		}}},
		"counts while it waits for a gate":        {"gate-blip", mutant{"rollback", countsWaiting}},
		"creates members of a pause as they were": {"paused-midway", mutant{"tracked creation", onTracked(createsAsBefore)}},
		"forgets who is superseded": {
			"paused-superseded", mutant{"superseded", onTracked(func(_ World, p Plan, r *v1.RolloutStatus) Plan { r.Superseded = nil; return p })}},
		"removes what a gate made unready": {"gate-readiness", mutant{"gate", onUnready(brokenBefore)}},
		"lets conditions of before judge an update": {"inplace-conditions", mutant{"old conditions", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			for i := range w.Set.Spec.UpdateStrategy.RollingUpdate.Steps {
				w.Set.Spec.UpdateStrategy.RollingUpdate.Steps[i].PodConditions = nil
			}
			return doing(p, Compute(w))
		}}},
		"keeps the override of before in place": {"inplace-override", mutant{"in place", func(w World, p Plan) Plan {
			w.Pods = copies(w.Pods)
			f, overrides := gather(w), identity.OverridesOf(w.Set)
			for _, pod := range w.Pods {
				pod.Annotations = action.Merged(pod.Annotations, map[string]string{v1.OverrideAnnotation: overrides.Hash(f.ordinalOf(pod.Name))})
			}
			return doing(p, Compute(w))
		}}},
		"does not wait for the node to see a change": {
			"inplace-rerun", mutant{"end of a restart", ends(func(w *World) { forgetGenerations(w) })}},
		"gives up restarts before their time": {"inplace-rerun-undone", mutant{"reason to delete", func(w World, p Plan) Plan {
			w.Now = w.Now.Add(time.Second)
			return doing(p, Compute(w))
		}}},
		"never gives up a restart": {"inplace-rerun-undone",
			mutant{"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteUnrestarted) })}},
		"gives up restarts of more members than may be down": {"inplace-rerun-undone-two", mutant{"vain restarts", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			w.Set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(3))
			for _, act := range Compute(w).All() {
				if a, ok := act.(action.DeletePod); ok && a.Reason == action.DeleteUnrestarted && !slices.Contains(p.All(), act) {
					p = also(p, act)
				}
			}
			return p
		}}},
		"gives up resizes before their time": {"resize-deferred", mutant{"reason to delete", func(w World, p Plan) Plan {
			w.Now = w.Now.Add(time.Second)
			return doing(p, Compute(w))
		}}},
		"gives up resizes of pods that have yet to run": {"resize-unstarted", mutant{"reason to delete", func(w World, p Plan) Plan {
			w.Pods = copies(w.Pods)
			for _, pod := range w.Pods {
				pod.Status.Phase = corev1.PodRunning
			}
			return doing(p, Compute(w))
		}}},
		"never gives up a resize": {"resize-infeasible",
			mutant{"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteUnresized) })}},
		"removes what it may only resize":       {"resize-invalid-only", mutant{"resize or not", removesInstead}},
		"removes more members than may be down": {"resize-invalid", mutant{"vain restarts", removesInstead}},
		"forgets what it has yet to undo":       {"resize-undone", mutant{"noted resize", forgetsResizes}},
		"gives up restarts where nothing may be removed": {
			"inplace-rerun-undone-only", mutant{"only in place", withInPlace(func(u *v1.InPlaceUpdate) *v1.InPlaceUpdate { return nil })}},
		"never frees the rate": {"rate-never-starts", mutant{"rate unused", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			w.Set.Spec.ProgressDeadlineSeconds = new(int32(1_000_000))
			return doing(p, Compute(w))
		}}},
		"replaces the lowest first":          {"replace-budget", mutant{"replace order", replacesLowestFirst}},
		"replaces another pod of the member": {"replace-other-pod", mutant{"reason to delete", replacesAnother}},
		"replaces members of Parallel sets before their time": {
			"unblock-partition-raised", mutant{"reason to delete", func(w World, p Plan) Plan { return early(w, p, false) }}},
		"takes the leader before its standbys": {"order-classes", mutant{"barrier", inOrder(func(o *v1.UpdateOrder) { slices.Reverse(o.Last) })}},
		"believes what was said before":        {"inplace-conditions", mutant{"old conditions", remembers}},
		"drains nobody for a resize": {"drain-resize-restart", mutant{"drain", withInPlace(func(u *v1.InPlaceUpdate) *v1.InPlaceUpdate {
			return &v1.InPlaceUpdate{Policy: u.Policy, DrainSeconds: new(int32(0))}
		})}},
		"does not say whom the leader that is asked for awaits": {
			"order-replace", mutant{"order told", func(_ World, p Plan) Plan { p.Waiting = ""; return p }}},
		"does not say whom the leader awaits": {"order-leader", mutant{"order told", func(_ World, p Plan) Plan { p.Waiting = ""; return p }}},
	}
}

// complaint is a tester that keeps what ended the test. If a rule is given, plans that break others do not.
type complaint struct{ rule, text string }

func (c *complaint) Helper() {}
func (c *complaint) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if c.rule != "" && strings.HasPrefix(text, brokenPlan) && !strings.Contains(text, "["+c.rule+"]") {
		return
	}
	c.text = text
	panic(c)
}

// complaintAbout is what ends a test, empty if nothing does.
func complaintAbout(test func(*complaint)) (text string) {
	c := &complaint{}
	defer func() {
		if stopped := recover(); stopped != nil && stopped != c {
			panic(stopped)
		}
		text = c.text
	}()
	test(c)
	return ""
}

// ofHanging corrupts what is done in place to pods whose containers are being restarted already.
func ofHanging(corrupt func(action.UpdateInPlace) []action.Action) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		return each(func(a action.UpdateInPlace) []action.Action {
			if isRestarting(gather(w).pods[a.Pod.Name]) {
				return corrupt(a)
			}
			return []action.Action{a}
		})(w, p)
	}
}
