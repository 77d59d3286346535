// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// anchorMutants are wrong in which objects are deleted with the set.
func anchorMutants() map[string]scripted {
	owned := func(change func(action.CreateObject)) func(World, Plan) Plan {
		return each(func(a action.CreateObject) []action.Action {
			a.Object = a.Object.DeepCopy()
			change(a)
			return []action.Action{a}
		})
	}
	anchor := func(change func(action.CreateAnchor)) func(World, Plan) Plan {
		return each(func(a action.CreateAnchor) []action.Action {
			a.Anchor = a.Anchor.DeepCopy()
			change(a)
			return []action.Action{a}
		})
	}
	// asked is what the planner does for templates that all say the same of the set's end.
	asked := func(policy v1.ObjectRetentionPolicyType) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			for i := range w.Set.Spec.ObjectTemplates {
				w.Set.Spec.ObjectTemplates[i].Retention = &v1.ObjectRetention{WhenDeleted: policy}
			}
			other := Compute(w)
			p.Finally = other.Finally
			return p
		}
	}
	return map[string]scripted{
		"makes objects that do not go with the set": {
			"with-set", mutant{"object owners", owned(func(a action.CreateObject) { a.Object.SetOwnerReferences(nil) })}},
		"makes objects that the set controls": {"with-set", mutant{"object owners", owned(func(a action.CreateObject) {
			owners := a.Object.GetOwnerReferences()
			for i := range owners {
				owners[i].Controller = new(true)
			}
			a.Object.SetOwnerReferences(owners)
		})}},
		"has all objects go with the set": {"with-set-changed", mutant{"anchor", asked(v1.DeleteObjectRetentionPolicyType)}},
		"has no object go with the set":   {"with-set", mutant{"object owners", asked(v1.RetainObjectRetentionPolicyType)}},
		"makes no anchor":                 {"with-set", mutant{"anchor", each(func(action.CreateAnchor) []action.Action { return nil })}},
		"controls its anchor": {
			"with-set", mutant{"anchor", anchor(func(a action.CreateAnchor) { a.Anchor.OwnerReferences[0].Controller = new(true) })}},
		"makes an anchor of nobody": {
			"with-set", mutant{"anchor", anchor(func(a action.CreateAnchor) { a.Anchor.OwnerReferences = nil })}},
		"has the history count its anchor": {
			"with-set", mutant{"anchor", anchor(func(a action.CreateAnchor) { a.Anchor.Labels["app"] = "nginx" })}},
		"leaves an anchor that was let go": {
			"with-set-orphaned", mutant{"anchor", each(func(action.OwnAnchor) []action.Action { return nil })}},
		"forgets objects of removed members": {
			"with-set-changed", mutant{"object released", each(func(action.SetObjectOwners) []action.Action { return nil })}},
		"forgets to whom it gave an object": {"with-set-returned", mutant{"ready", func(w World, p Plan) Plan {
			return each(func(a action.SetObjectOwners) []action.Action {
				a.Digest = w.Objects[identity.ObjectKey{Group: a.Kind.Group, Kind: a.Kind.Kind, Name: a.At.Name}].Annotations[v1.ObjectInputsAnnotation]
				return []action.Action{a}
			})(w, p)
		}}},
		"takes other owners from objects": {"with-set-strangers", mutant{"object released", func(w World, p Plan) Plan {
			return each(func(a action.SetObjectOwners) []action.Action {
				a.Owners = slices.DeleteFunc(slices.Clone(a.Owners),
					func(ref metav1.OwnerReference) bool { return !identity.IsAnchor(ref, w.Set.Name) })
				return []action.Action{a}
			})(w, p)
		}}},
		"uses objects that go with an earlier set": {"with-set-again", mutant{"objects first", func(w World, p Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			for _, o := range w.Objects {
				o.OwnerReferences = nil
			}
			return doing(p, Compute(w))
		}}},
	}
}
