// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// isDraining reports whether a pod is out of service because its containers are about to restart.
func isDraining(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == v1.PodInService && c.Status != corev1.ConditionTrue
	})
}

// inPlaceWord describes the in-place update in the annotation of a pod.
func inPlaceWord(note string) string {
	var about struct {
		Containers, Resources map[string]any
	}
	if json.Unmarshal([]byte(note), &about) == nil && len(about.Containers) == 0 && len(about.Resources) > 0 {
		return "resizing"
	}
	return "restarting"
}

// phaseOf returns the phase of a pod, or the reason why it does not run.
func phaseOf(pod *corev1.Pod) string {
	if pod.DeletionTimestamp != nil {
		return "Terminating"
	}
	if reason := waitingReason(pod); reason != "" {
		return reason
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason != "" {
			return condition.Reason
		}
	}
	if pod.Status.Reason != "" {
		return pod.Status.Reason // as kubectl get pods shows it: NodeLost, Evicted
	}
	if pod.Status.Phase == "" {
		return string(corev1.PodPending)
	}
	return string(pod.Status.Phase)
}

// waitingReason returns why a container of the pod does not run, empty if all containers run or are
// about to start.
func waitingReason(pod *corev1.Pod) string {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := status.State.Waiting; waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing" {
			return waiting.Reason
		}
	}
	return ""
}

// isBroken reports whether a person may have to act before the pod becomes ready.
func isBroken(pod *corev1.Pod) bool {
	reason := waitingReason(pod)
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodUnknown || phaseOf(pod) == corev1.PodReasonUnschedulable ||
		reason != "" && reason != "ContainerCreating"
}
