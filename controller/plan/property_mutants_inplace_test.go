// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// inPlaceMutants are wrong in how they change pods in place.
func inPlaceMutants() map[string]mutant {
	changes := func(change func(*action.UpdateInPlace)) func(World, Plan) Plan {
		return each(func(a action.UpdateInPlace) []action.Action {
			a.Labels, a.Annotations = maps.Clone(a.Labels), maps.Clone(a.Annotations)
			change(&a)
			return []action.Action{a}
		})
	}
	return map[string]mutant{
		"changes pods that another revision has": {"exact", changes(func(a *action.UpdateInPlace) { a.Pod.ResourceVersion = "" })},
		"changes an image and not the label": {
			"what a label says", changes(func(a *action.UpdateInPlace) { delete(a.Labels, revisionLabel) })},
		"changes a label and not the image": {"what a label says", changes(func(a *action.UpdateInPlace) { a.Images = nil })},
		"notes no restart": {
			"noted restarts", changes(func(a *action.UpdateInPlace) { delete(a.Annotations, v1.InPlaceAnnotation) })},
		"notes no IDs": {"noted restarts", changes(func(a *action.UpdateInPlace) { a.Annotations[v1.InPlaceAnnotation] = new("{}") })},
		"removes pods although they may only change": {"in place or not", changes(func(a *action.UpdateInPlace) {
			a.Otherwise = &action.DeletePod{Ordinal: a.Ordinal, Pod: a.Pod, Reason: action.DeleteForUpdate}
		})},
		"leaves pods that the host does not change": {"in place or not", changes(func(a *action.UpdateInPlace) { a.Otherwise = nil })},
		"never ends an update in place":             {"converge", each(func(action.EndInPlace) []action.Action { return nil })},
		"replaces where it may only change":         {"only in place", withInPlace(func(u *v1.InPlaceUpdate) *v1.InPlaceUpdate { return nil })},
		"changes pods unasked": {"in place", withInPlace(func(u *v1.InPlaceUpdate) *v1.InPlaceUpdate {
			return &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType}
		})},
		"does not wait for another container":         {"end of a restart", ends(func(w *World) { forgetContainers(w) })},
		"counts pods that restart as serving":         {"counters", countsRestarts},
		"changes a pod whose node has yet to restart": {"one restart at a time", hurries},
	}
}

// withInPlace is the planner of a set that asks otherwise for updates in place.
func withInPlace(change func(*v1.InPlaceUpdate) *v1.InPlaceUpdate) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		rolling := w.Set.Spec.UpdateStrategy.RollingUpdate
		if gather(w).strategy() != v1.RollingUpdateStatefulSetStrategyType || rolling == nil {
			return p
		}
		w.Set = w.Set.DeepCopy()
		w.Set.Spec.UpdateStrategy.RollingUpdate.InPlace = change(rolling.InPlace)
		return doing(p, Compute(w))
	}
}

// ends is the planner of a world in which nothing keeps an update in place from its end.
func ends(change func(*World)) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		w.Pods = copies(w.Pods)
		change(&w)
		return doing(p, Compute(w))
	}
}

func forgetGenerations(w *World) {
	for _, pod := range w.Pods {
		pod.Status.ObservedGeneration = 0
	}
}

func forgetContainers(w *World) {
	for _, pod := range w.Pods {
		if _, restarts := noted(pod); restarts {
			pod.Annotations[v1.InPlaceAnnotation] = "{}"
		}
	}
}

// countsRestarts is a planner that does not know that pods are about to restart.
func countsRestarts(w World, p Plan) Plan {
	w.Pods = copies(w.Pods)
	for _, pod := range w.Pods {
		delete(pod.Annotations, v1.InPlaceAnnotation)
	}
	p.Status = Compute(w).Status
	return p
}

// serving is a planner that updates as if members that restart served.
func serving(w World, p Plan) Plan {
	w.Pods = copies(w.Pods)
	for _, pod := range w.Pods {
		delete(pod.Annotations, v1.InPlaceAnnotation)
	}
	return doing(p, Compute(w))
}

// hurries is a planner that gives pods another revision before their nodes have seen to the
// one before.
func hurries(w World, p Plan) Plan {
	w.Pods = copies(w.Pods)
	for _, pod := range w.Pods {
		before, restarts := noted(pod)
		pod.Status.ObservedGeneration = 0
		for i := range pod.Status.ContainerStatuses {
			if restarts && before[pod.Status.ContainerStatuses[i].Name] != "" {
				pod.Status.ContainerStatuses[i].ContainerID = ""
				pod.Status.ContainerStatuses[i].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}
			}
		}
	}
	return doing(p, Compute(w))
}
