// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// retentionMutants are wrong in which objects of removed members are deleted, and when.
func retentionMutants() map[string]scripted {
	seen := func(see func(World, identity.ObjectKey, *Object)) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			for key, object := range w.Objects {
				see(w, key, object)
			}
			return deletingObjects(p, Compute(w))
		}
	}
	marks := func(as action.ObjectMark) func(World, Plan) Plan {
		return each(func(a action.MarkObject) []action.Action { return only(a, a.As != as) })
	}
	return map[string]scripted{
		"deletes objects before they are due": {"retention-scaled", mutant{"object reclaim", func(w World, p Plan) Plan {
			w.Now = w.Now.Add(15 * time.Second)
			return deletingObjects(p, Compute(w))
		}}},
		"deletes objects without a date": {"retention-scaled", mutant{"object reclaim", seen(func(_ World, _ identity.ObjectKey, o *Object) {
			if o.Annotations[retiredNote] == "" && o.Annotations[ownerNote] != "" {
				o.Annotations = action.Merged(o.Annotations, map[string]string{retiredNote: "2025-01-01T00:00:00Z"})
				o.ManagedFields = retiredFields(o.CreationTimestamp.Time)
			}
		})}},
		"believes the dates of other controllers about objects": {
			"clock-behind-objects", mutant{"object reclaim", seen(func(_ World, _ identity.ObjectKey, o *Object) {
				if o.ManagedFields != nil {
					o.ManagedFields, o.CreationTimestamp = retiredFields(time.Unix(0, 0)), metav1.Time{}
				}
			})}},
		"deletes objects of wanted members": {"retention-returns-first", mutant{"object reclaim", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			w.Set.Spec.Replicas = new(int32(0))
			return deletingObjects(p, Compute(w))
		}}},
		"deletes objects of members that have a pod of somebody else": {
			"retention-pod-stays", mutant{"object retires", func(w World, p Plan) Plan {
				w.Pods = slices.DeleteFunc(copies(w.Pods), func(pod *corev1.Pod) bool { return pod.OwnerReferences[0].Name != "web" })
				return markingObjects(p, Compute(w))
			}}},
		"deletes objects of an earlier set": {
			"retention-strangers", mutant{"object reclaim", seen(func(w World, _ identity.ObjectKey, o *Object) {
				if strings.HasPrefix(o.Annotations[ownerNote], "web/") {
					o.Annotations = action.Merged(o.Annotations, map[string]string{ownerNote: "web/" + string(w.Set.UID)})
					o.ManagedFields = retiredFields(o.CreationTimestamp.Time)
				}
			})}},
		"dates objects that others control": {"retention-strangers", mutant{"object retires", func(w World, p Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			for _, o := range w.Objects {
				o.OwnerReferences = nil
			}
			return markingObjects(p, Compute(w))
		}}},
		"deletes objects that it does not know": {"retention-unknown", mutant{"object reclaim", func(w World, p Plan) Plan {
			w.Kinds = (&host{set: w.Set}).kindsOfObjects()
			return deletingObjects(p, Compute(w))
		}}},
		"believes dates of a status that was lost": {"retention-status-lost", mutant{"object reclaim", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			w.Set.Status.ObjectTemplates = slices.Clone(p.Status.ObjectTemplates)
			templates, _ := identity.OverridesOf(w.Set).Objects()
			for i, template := range templates {
				w.Set.Status.ObjectTemplates[i].ObjectName = template.Pattern()
			}
			return deletingObjects(p, Compute(w))
		}}},
		"believes that a template asks for it": {"retention-switched-off", mutant{"object retires", func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			h := &host{set: w.Set, keeping: "Delete:20"}
			h.t = &complaint{}
			h.retainObjects()
			return markingObjects(p, Compute(w))
		}}},
		"deletes no objects": {
			"retention-scaled", mutant{"object reclaim", each(func(action.DeleteObject) []action.Action { return nil })}},
		"deletes objects without a version": {"retention-scaled",
			mutant{"exact", each(func(a action.DeleteObject) []action.Action { a.At.ResourceVersion = ""; return []action.Action{a} })}},
		"forgets to date objects": {"retention-scaled", mutant{"object retires", marks(action.ObjectRetired)}},
		"forgets to keep objects": {"retention-scaled", mutant{"object returns", marks(action.ObjectKept)}},
		"deletes many at once": {"retention-many", mutant{"object reclaim", func(w World, p Plan) Plan {
			for {
				more := Compute(w)
				w.Objects = copiesOfObjects(w.Objects)
				deleted := 0
				for _, act := range more.All() {
					if a, ok := act.(action.DeleteObject); ok {
						delete(w.Objects, identity.ObjectKey{Group: a.Kind.Group, Kind: a.Kind.Kind, Name: a.At.Name})
						deleted++
					}
				}
				if deleted == 0 {
					return p
				}
				p = deletingObjects(p, more)
			}
		}}},
		"creates members whose objects are dated": {"retention-returns-first", mutant{"object returns first", func(w World, p Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			for _, o := range w.Objects {
				delete(o.Annotations, retiredNote)
			}
			return doing(p, Compute(w))
		}}},
		"dates objects in the future": {"retention-scaled", mutant{"object retired since", each(func(a action.MarkObject) []action.Action {
			if !a.Retired.IsZero() {
				a.Retired = a.Retired.Add(time.Hour)
			}
			return []action.Action{a}
		})}},
		"tells of no objects that are due": {"retention-scaled", mutant{"object due", func(_ World, p Plan) Plan {
			p.Status = *p.Status.DeepCopy()
			for i := range p.Status.ObjectTemplates {
				p.Status.ObjectTemplates[i].DueTime = nil
			}
			return p
		}}},
		"does not look when objects are due": {"retention-scaled", mutant{"next look", func(_ World, p Plan) Plan {
			p.RequeueAfter = 0
			return p
		}}},
	}
}

// deletingObjects is the plan with the objects deleted that another deletes.
func deletingObjects(p, other Plan) Plan { return adding[action.DeleteObject](p, other) }

// markingObjects is the plan with what another notes on objects.
func markingObjects(p, other Plan) Plan { return adding[action.MarkObject](p, other) }

// adding is the plan with the actions of a kind that another has.
func adding[A action.Action](p, other Plan) Plan {
	for _, act := range other.All() {
		a, ok := act.(A)
		if ok && !slices.ContainsFunc(p.All(), func(b action.Action) bool { return b.String() == a.String() }) {
			p = also(p, a)
		}
	}
	return p
}
