// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// removedTemplateMutants are wrong in which objects of removed templates are deleted, and in what is told of
// them.
func removedTemplateMutants() map[string]scripted {
	seen := func(change func(*World, Plan), adds func(p, other Plan) Plan) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			w.Set = w.Set.DeepCopy()
			change(&w, p)
			return adds(p, Compute(w))
		}
	}
	removed := func(w *World, change func(*v1.ObjectTemplateStatus)) {
		for i := range w.Set.Status.ObjectTemplates {
			if s := &w.Set.Status.ObjectTemplates[i]; s.RemovedAt != nil {
				change(s)
			}
		}
	}
	told := func(change func([]v1.ObjectTemplateStatus) []v1.ObjectTemplateStatus) func(World, Plan) Plan {
		return func(_ World, p Plan) Plan {
			p.Status = *p.Status.DeepCopy()
			p.Status.ObjectTemplates = change(p.Status.ObjectTemplates)
			return p
		}
	}
	isRemoved := func(s v1.ObjectTemplateStatus) bool { return s.RemovedAt != nil }
	return map[string]scripted{
		"deletes objects of a removed template before an update is complete": {
			"removed-with-update", mutant{"object retires", seen(func(w *World, p Plan) {
				w.Set.Status.CurrentRevision = p.Status.UpdateRevision
				w.Pods = nil
			}, markingObjects)}},
		"deletes objects of a removed template that a pod may use": {
			"removed-outdated-pod", mutant{"object retires", seen(func(w *World, _ Plan) {
				w.Pods = nil
			}, markingObjects)}},
		"deletes objects that the pod template names": {"removed-named", mutant{"object retires", seen(func(w *World, _ Plan) {
			removed(w, func(s *v1.ObjectTemplateStatus) { s.ObjectName = "another" })
		}, markingObjects)}},
		"deletes objects of a removed template that another one has": {"removed-renamed", mutant{"object retires", seen(func(w *World, _ Plan) {
			w.Set.Spec.ObjectTemplates = slices.DeleteFunc(w.Set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == "again" })
		}, markingObjects)}},
		"deletes drawn Secrets of a removed template that claims know": {"removed-drawn", mutant{"object retires", seen(func(w *World, _ Plan) {
			w.Claims = nil
		}, markingObjects)}},
		"believes dates of before the removal of a template": {"removed-scaled-before", mutant{"object retires", seen(func(w *World, _ Plan) {
			removed(w, func(s *v1.ObjectTemplateStatus) { s.RemovedAt = &metav1.Time{Time: s.RemovedAt.Add(-time.Hour)} })
		}, func(_, other Plan) Plan { return other })}},
		"deletes objects of a removed template without the delay": {"removed-template", mutant{"object reclaim", seen(func(w *World, _ Plan) {
			removed(w, func(s *v1.ObjectTemplateStatus) { s.Retention.ScaledAfterSeconds = nil })
		}, deletingObjects)}},
		"deletes no objects of a removed template": {
			"removed-template", mutant{"object reclaim", each(func(a action.DeleteObject) []action.Action { return only(a, a.Unused == "") })}},
		"forgets what a removed template has left": {
			"removed-template", mutant{"told removed", told(func(all []v1.ObjectTemplateStatus) []v1.ObjectTemplateStatus {
				return slices.DeleteFunc(all, isRemoved)
			})}},
		"tells of a removed template for ever": {"removed-template", mutant{"told removed", func(w World, p Plan) Plan {
			p.Status = *p.Status.DeepCopy()
			if !slices.ContainsFunc(p.Status.ObjectTemplates, isRemoved) {
				p.Status.ObjectTemplates = append(p.Status.ObjectTemplates,
					slices.DeleteFunc(slices.Clone(w.Set.Status.ObjectTemplates), func(s v1.ObjectTemplateStatus) bool { return !isRemoved(s) })...)
			}
			return p
		}}},
		"does not wait for the end of the delay of a removed template": {"removed-template", mutant{"next look", func(w World, p Plan) Plan {
			if slices.ContainsFunc(w.Set.Status.ObjectTemplates, isRemoved) {
				p.RequeueAfter = 0
			}
			return p
		}}},
	}
}
