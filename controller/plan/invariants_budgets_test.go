// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// asksBudgets: of a set that evicts, no container of a pod that is ready is restarted, and no such
// pod is taken out of service, unless the host would evict it; of others it is asked nothing.
func (j *judged) asksBudgets() {
	evicts := j.Set.Spec.Disruption != nil && j.Set.Spec.Disruption.Method == "Evict"
	for _, act := range j.actions() {
		_, at := targetOf(act)
		pod, disrupts, may := j.pods[at.Name], false, false
		if pod == nil {
			continue
		}
		switch a := act.(type) {
		case action.UpdateInPlace:
			disrupts = j.restartsAny(a, pod)
		case action.ResizePod:
			disrupts, may = j.restartsFor(a, pod), true // for what was noted before, a container may yet be restarted
		case action.SetPodConditions:
			disrupts = takesOut(a)
			// What was said of a pod may be forgotten because it is about to be restarted.
			may = slices.ContainsFunc(a.Conditions, func(c corev1.PodCondition) bool { return c.Reason == v1.ReasonRevisionChanged })
		default:
			continue
		}
		_, is := ready(pod)
		asks := action.AsksBudgets(act)
		wants, mayAsk := evicts && is && disrupts, evicts && is && (disrupts || may)
		if asks && !mayAsk || !asks && wants {
			j.broke("asks budgets", "%s asks the host: got %t, of a pod that is ready: %t, and is disrupted: %t", act, asks, is, disrupts)
		}
		if asks {
			j.oneUnseen(act, pod)
		}
	}
}

// restartsFor reports whether a container is restarted for the memory that it is given.
func (j *judged) restartsFor(a action.ResizePod, pod *corev1.Pod) bool {
	template, is := j.templateOf(pod.Labels[revisionLabel]), pod.Spec.Containers[0]
	given, has := a.Containers[is.Name].Limits[corev1.ResourceMemory]
	return template != nil && has && !given.Equal(*is.Resources.Limits.Memory()) &&
		slices.Contains(template.Spec.Containers[0].ResizePolicy,
			corev1.ContainerResizePolicy{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer})
}

// oneUnseen: no further pod is taken from service as budgets allow before they can know of the one
// before, which is ready as long as its node has not noticed.
func (j *judged) oneUnseen(act action.Action, of *corev1.Pod) {
	if isUnseen(of) {
		return
	}
	for _, pod := range j.Pods {
		if j.mine(pod) && pod.Name != of.Name && isUnseen(pod) &&
			(j.wanted(j.ordinalOf(pod.Name)) || pod.Annotations[v1.InPlaceAnnotation] != "") {
			j.broke("one unseen", "%s, and budgets do not know of %s, which has the annotations %v and conditions %v", act, pod.Name,
				pod.Annotations, pod.Status.Conditions)
		}
	}
}

// isUnseen reports whether a pod is ready, and is out of service, or has containers that are to be
// restarted.
func isUnseen(pod *corev1.Pod) bool {
	if _, is := ready(pod); !is || pod.DeletionTimestamp != nil {
		return false
	}
	if _, out := outOfServiceSince(pod); out {
		return true
	}
	var note struct {
		ResizeRestarts bool `json:"resizeRestarts"`
	}
	if json.Unmarshal([]byte(pod.Annotations[v1.InPlaceAnnotation]), &note) != nil {
		return false
	}
	waits, _ := (evidence{}).waitsForResize(pod)
	return len(yetToRestart(pod)) > 0 || note.ResizeRestarts && waits
}
