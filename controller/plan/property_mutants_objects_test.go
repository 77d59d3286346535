// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// applying also changes what would be to be changed if objects were otherwise.
func applying(otherwise func(World, *Object)) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		w.Objects = copiesOfObjects(w.Objects)
		for _, object := range w.Objects {
			otherwise(w, object)
		}
		for _, chain := range Compute(w).Finally {
			_, changes := chain[0].(action.ApplyObject)
			if changes && !slices.ContainsFunc(p.All(), func(a action.Action) bool { return a.String() == chain[0].String() }) {
				p.Finally = append(slices.Clip(p.Finally), chain)
			}
		}
		return p
	}
}

// objectMutants are wrong in what they make beside the pods, and when.
func objectMutants() map[string]scripted {
	seen := func(see func(World, identity.ObjectKey, *Object)) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			for key, object := range w.Objects {
				see(w, key, object)
			}
			return doing(p, Compute(w))
		}
	}
	without := func(w World) World {
		w.Set = w.Set.DeepCopy()
		w.Set.Spec.ObjectTemplates = nil
		return w
	}
	return map[string]scripted{
		"creates pods without their objects": {
			"objects-life", mutant{"objects first", func(w World, p Plan) Plan { return doing(p, Compute(without(w))) }}},
		"replaces pods whose objects are lacking": {
			"objects-update", mutant{"objects of successors", seen(func(_ World, _ identity.ObjectKey, o *Object) {
				o.DeletionTimestamp = nil
			})}},
		"changes what is somebody else's": {"objects-strangers", mutant{"strangers", applying(func(w World, o *Object) {
			o.Annotations = map[string]string{v1.OwnerAnnotation: identity.OwnerMark(w.Set)}
		})}},
		"takes what another set has": {"objects-shared", mutant{"told objects", func(w World, p Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			for _, o := range w.Objects {
				o.OwnerLives = false
			}
			return Compute(w)
		}}},
		"makes objects that may exist": {"objects-unknown", mutant{"one object", func(w World, p Plan) Plan {
			w.Kinds = maps.Clone(w.Kinds)
			for kind := range w.Kinds {
				w.Kinds[kind] = Kind{Known: true}
			}
			if len(p.Status.ObjectTemplates) == 0 || w.Kinds[schema.GroupKind{Kind: "ConfigMap"}].Known == false {
				return p
			}
			return doing(p, Compute(w))
		}}},
		"is ready for all it knows": {"objects-restarted", mutant{"ready", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			for i := range w.Set.Status.ObjectTemplates {
				w.Set.Status.ObjectTemplates[i].Updated = w.Set.Status.ObjectTemplates[i].Wanted
			}
			p.Status.Conditions = Compute(w).Status.Conditions
			return p
		}}},
		"leaves a list of members as it was": {"objects-members", mutant{"ready", func(w World, _ Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			if list := w.Objects[keyOf("ConfigMap/web-list")]; list != nil {
				objects, _ := identity.OverridesOf(w.Set).Objects()
				list.Annotations[v1.ObjectInputsAnnotation] = objects[0].Digest(setOrdinal)
			}
			return Compute(w)
		}}},
		"applies what is as it should be": {"objects-life", mutant{"idle apply", applying(func(_ World, o *Object) { o.Drifted = true })}},
		"never changes an object":         {"objects-life", mutant{"converge", each(func(action.ApplyObject) []action.Action { return nil })}},
		"changes objects without a version": {"objects-life", mutant{"exact", each(func(a action.ApplyObject) []action.Action {
			a.At.ResourceVersion = ""
			return []action.Action{a}
		})}},
		"has objects deleted with the set": {"objects-life", mutant{"object owners", func(w World, p Plan) Plan {
			return each(func(a action.CreateObject) []action.Action {
				a.Object = a.Object.DeepCopy()
				a.Object.SetOwnerReferences(append(a.Object.GetOwnerReferences(), identity.Owner(w.Set)))
				return []action.Action{a}
			})(w, p)
		}}},
		"says nothing of whose an object is": {"objects-life", mutant{"marks", each(func(a action.CreateObject) []action.Action {
			a.Object = a.Object.DeepCopy()
			a.Object.SetAnnotations(nil)
			return []action.Action{a}
		})}},
		"has everything rest on a change": {"objects-life", mutant{"objects aside", func(_ World, p Plan) Plan {
			var aside []action.Chain
			for _, chain := range p.Finally {
				if _, changes := chain[0].(action.ApplyObject); changes {
					p.First = append(p.First, chain...)
				} else {
					aside = append(aside, chain)
				}
			}
			p.Finally = aside
			return p
		}}},
	}
}
