// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan/action"
)

// invariants are what every plan of every world keeps to. They are written from
// the meaning of a set, not from the planner, and share no code with its rules.
var invariants = []func(*judged){
	(*judged).exactTargets,
	(*judged).restOfDeletedSet,
	(*judged).restOfHeldSet,
	(*judged).waitsForRevisions,
	(*judged).creates,
	(*judged).createsInOrder,
	(*judged).recreatesAtOnce,
	(*judged).chains,
	(*judged).backOff,
	(*judged).membership,
	(*judged).deletes,
	(*judged).updatesInPeace,
	(*judged).comesLast,
	(*judged).replaced,
	(*judged).replacements,
	(*judged).rate,
	(*judged).parameters,
	(*judged).parametersInPlace,
	(*judged).recordsIdentity,
	(*judged).tellsReplicas,
	(*judged).renderable,
	(*judged).gated,
	(*judged).evictions,
	(*judged).asksBudgets,
	(*judged).questions,
	(*judged).waitsForGate,
	(*judged).createdClaims,
	(*judged).claimOwners,
	(*judged).keepsClaims,
	(*judged).reclaims,
	(*judged).objects,
	(*judged).retired,
	(*judged).anchored,
	(*judged).tracking,
	(*judged).stepping,
	(*judged).decisions,
	(*judged).fails,
	(*judged).stepsEnd,
	(*judged).rollsBack,
	(*judged).growth,
	(*judged).growthOrder,
	(*judged).shape,
	(*judged).growthTold,
	(*judged).overridden,
	(*judged).inPlace,
	(*judged).resizes,
	(*judged).drains,
	(*judged).leavesNobodyDrained,
	(*judged).verdicts,
	(*judged).labelsTell,
	(*judged).revisionsKept,
	(*judged).revisionsMade,
	(*judged).counters,
	(*judged).listedOrdinals,
	(*judged).conditions,
	(*judged).progress,
	(*judged).readyOnlyIfSo,
	(*judged).plainText,
}

// judged is a world, the plan that was made of it, and what is wrong with the plan.
type judged struct {
	evidence
	plan   Plan
	ended  map[int]ended
	lapse  lapse
	broken []string
}

// broke notes that the plan breaks a rule.
func (j *judged) broke(rule, format string, args ...any) {
	j.broken = append(j.broken, "["+rule+"] "+fmt.Sprintf(format, args...))
}

// actions are all actions of the plan, in their order.
func (j *judged) actions() []action.Action { return j.plan.All() }

// planned are the actions of one kind.
func planned[A action.Action](j *judged) (all []A) {
	for _, act := range j.actions() {
		if a, ok := act.(A); ok {
			all = append(all, a)
		}
	}
	return all
}

// brokenPlan begins the report of a plan that breaks invariants.
const brokenPlan = "a plan breaks"

// inspected is a planner that fails the test when one of its plans breaks an
// invariant, when it is not a function of its world, or when it changes its world.
func inspected(t tester, compute func(World) Plan) func(World) Plan {
	names, notes := map[string]string{}, map[string]string{}
	var endings endings
	var lapses lapses
	return func(world World) Plan {
		t.Helper()
		before := deepCopy(world)
		p := compute(world)
		j := &judged{evidence: gather(before), plan: p}
		endings.see(j)
		lapses.see(j)
		j.ended, j.lapse = endings.members, lapses.now
		for _, invariant := range invariants {
			invariant(j)
		}
		j.sameName(names)
		j.sameNote(notes)
		if !reflect.DeepEqual(before, world) {
			j.broke("pure", "the planner has changed its world")
		}
		before.Cache = Cache{set: before.Cache.set, endings: before.Cache.endings}
		if again := compute(backwards(before)); !reflect.DeepEqual(p, again) {
			j.broke("pure", "the same world gets the plan %v %v and the plan %v %v", p.All(), p.Status, again.All(), again.Status)
		}
		j.looksInTime(compute, before)
		if len(j.broken) > 0 {
			t.Fatalf(brokenPlan+"\n%s\nthe plan is %v", strings.Join(j.broken, "\n"), p.All())
		}
		return p
	}
}

// sameName checks that a template leads to the same name of a revision each time,
// unless somebody else has recorded it under another one.
func (j *judged) sameName(names map[string]string) {
	if j.undecided() {
		return
	}
	image, template := j.Set.Spec.Template.Spec.Containers[0].Image, templateText(&j.Set.Spec.Template)+identityJSON(j.Set.Spec.Identity)
	name := j.plan.Status.UpdateRevision
	recorded := j.revisions[name] != nil && j.imageOf(name) == image
	if before, ok := names[template]; ok && before != name && !recorded {
		j.broke("names", "the template with %s is revision %s, and was %s; if templates may differ in another field now, add it to templateText",
			template, name, before)
	}
	for other, taken := range names {
		if other != template && taken == name {
			j.broke("names", "the templates with %s and %s are both revision %s", template, other, name)
		}
	}
	names[template] = name
}

func deepCopy(world World) World {
	return World{
		Set: world.Set.DeepCopy(), Revisions: copies(world.Revisions), Pods: copies(world.Pods), Claims: copies(world.Claims),
		Objects: copiesOfObjects(world.Objects), Kinds: maps.Clone(world.Kinds), Rivals: world.Rivals, Resizes: world.Resizes,
		SetsConditions: world.SetsConditions, Now: world.Now,
		Cache: Cache{digests: maps.Clone(world.Cache.digests), sources: maps.Clone(world.Cache.sources), set: world.Cache.set,
			endings: maps.Clone(world.Cache.endings)}}
}

func copies[T interface{ DeepCopy() T }](objects []T) []T {
	all := slices.Clone(objects)
	for i, object := range objects {
		all[i] = object.DeepCopy()
	}
	return all
}

// backwards is the world with everything in another order.
func backwards(world World) World {
	slices.Reverse(world.Revisions)
	slices.Reverse(world.Pods)
	slices.Reverse(world.Claims)
	return world
}

// targetOf is the object that an action is about to change, and of what kind it
// is; the kind is empty for an action that only creates.
func targetOf(act action.Action) (kind string, at action.Target) {
	switch a := act.(type) {
	case action.UpdateClaim:
		return "claim", a.Claim
	case action.SetClaimOwners:
		return "claim", a.Claim
	case action.MarkClaim:
		return "claim", a.Claim
	case action.DeleteClaim:
		return "claim", a.Claim
	case action.ApplyObject:
		return "object " + a.Object.GetKind(), a.At
	case action.MarkObject:
		return "object " + a.Kind.Kind, a.At
	case action.SetObjectOwners:
		return "object " + a.Kind.Kind, a.At
	case action.OwnAnchor:
		return "revision", a.Anchor
	case action.DeleteObject:
		return "object " + a.Kind.Kind, a.At
	case action.RepairPod:
		return "pod", a.Pod
	case action.PatchPod:
		return "pod", a.Pod
	case action.SetPodConditions:
		return "pod", a.Pod
	case action.DeletePod:
		return "pod", a.Pod
	case action.UpdateInPlace:
		return "pod", a.Pod
	case action.EndInPlace:
		return "pod", a.Pod
	case action.ResizePod:
		return "pod", a.Pod
	case action.AdoptPod:
		return "pod", a.Pod
	case action.ReleasePod:
		return "pod", a.Pod
	case action.RaiseRevision:
		return "revision", a.Revision
	case action.AdoptRevision:
		return "revision", a.Revision
	case action.DeleteRevision:
		return "revision", a.Revision
	default:
		return "", action.Target{}
	}
}

// exactTargets: what is changed is named by its UID and resource version, exactly
// as it was seen, and once: the second change would find another version.
func (j *judged) exactTargets() {
	hit := map[string]bool{}
	for _, act := range j.actions() {
		kind, at := targetOf(act)
		if kind == "" {
			continue
		}
		if seen := j.seen(kind, at.Name); seen == nil || seen.GetUID() != at.UID || seen.GetResourceVersion() != at.ResourceVersion {
			j.broke("exact", "%s names %+v", act, at)
		}
		if key := kind + " " + at.Name; hit[key] {
			j.broke("once", "the plan changes %s twice", key)
		} else {
			hit[key] = true
		}
	}
}

// seen is the object of the world with the given name, nil if there is none.
func (j *judged) seen(kind, name string) metav1.Object {
	if pod := j.pods[name]; kind == "pod" && pod != nil {
		return pod
	}
	if claim := j.claims[name]; kind == "claim" && claim != nil {
		return claim
	}
	if of, is := strings.CutPrefix(kind, "object "); is && j.Objects[keyOf(of+"/"+name)] != nil {
		return j.Objects[keyOf(of+"/"+name)]
	}
	if revision := j.revisions[name]; kind == "revision" && revision != nil {
		return revision
	}
	return nil
}

// restOfDeletedSet: nothing is done for a set that is being deleted.
func (j *judged) restOfDeletedSet() {
	if j.Set.DeletionTimestamp != nil && len(j.plan.All()) > 0 {
		j.broke("deleted set", "a set that is being deleted gets the plan %v", j.plan.All())
	}
}
