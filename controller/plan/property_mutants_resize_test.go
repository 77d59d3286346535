// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// resizeMutants are wrong in how they give pods other resources.
func resizeMutants() map[string]mutant {
	return map[string]mutant{
		"never resizes": {"converge", each(func(action.ResizePod) []action.Action { return nil })},
		"resizes to what no revision has": {"what a resize gives", each(func(a action.ResizePod) []action.Action {
			a.Containers = maps.Clone(a.Containers)
			for name := range a.Containers {
				a.Containers[name] = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("7")}}
			}
			return []action.Action{a}
		})},
		"notes no resize": {"noted resize", notesOf(func(note map[string]any) { delete(note, "resources") })},
		"ends resizes that are not done": {"end of a resize", ends(func(w *World) {
			for _, pod := range w.Pods {
				for i := range pod.Status.ContainerStatuses {
					pod.Status.ContainerStatuses[i].Resources = pod.Spec.Containers[i].Resources.DeepCopy()
				}
			}
		})},
	}
}

// removesInstead is a planner that lets any pod be removed that the host does not resize.
func removesInstead(w World, p Plan) Plan {
	return each(func(a action.ResizePod) []action.Action {
		a.Otherwise = &action.DeletePod{Ordinal: a.Ordinal, Pod: a.Pod, Reason: action.DeleteUnresized}
		return []action.Action{a}
	})(w, p)
}

// notesOf changes what is noted of updates in place.
func notesOf(change func(map[string]any)) func(World, Plan) Plan {
	return each(func(a action.UpdateInPlace) []action.Action {
		text := a.Annotations[v1.InPlaceAnnotation]
		if text == nil {
			return []action.Action{a}
		}
		var note map[string]any
		if json.Unmarshal([]byte(*text), &note) != nil {
			return []action.Action{a}
		}
		change(note)
		written, err := json.Marshal(note)
		if err != nil {
			return []action.Action{a}
		}
		a.Annotations = maps.Clone(a.Annotations)
		a.Annotations[v1.InPlaceAnnotation] = new(string(written))
		return []action.Action{a}
	})
}

// forgetsResizes is a planner that does not know, when it gives a pod another revision, what the
// one before gave it.
func forgetsResizes(w World, p Plan) Plan {
	return notesOf(func(note map[string]any) {
		given, _ := note["resources"].(map[string]any)
		container, _ := given["nginx"].(map[string]any)
		if _, both := container["limits"]; both {
			delete(container, "requests")
		}
	})(w, p)
}
