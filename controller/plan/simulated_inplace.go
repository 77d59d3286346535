// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Restart restarts the containers of a pod that is updated in place, like an optimistic node. It
// reports false if there are none to restart.
func (s *Simulated) Restart(name string) bool {
	stored := s.Pods[name]
	if !isRestarting(stored) {
		return false
	}
	awaited := noteOf(stored).awaited(stored)
	if len(awaited) == 0 && isObserved(stored) {
		return false
	}
	pod := *stored
	pod.Status.ObservedGeneration = pod.Generation
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = slices.Clone(pod.Status.ContainerStatuses),
		slices.Clone(pod.Status.InitContainerStatuses)
	for _, container := range awaited {
		anew := corev1.ContainerStatus{Name: container, ContainerID: fmt.Sprintf("restarted://%s/%d", container, pod.Generation)}
		if at := slices.IndexFunc(pod.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container }); at >= 0 {
			pod.Status.InitContainerStatuses[at] = anew
			continue
		}
		pod.Status.ContainerStatuses = append(
			slices.DeleteFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container }), anew)
	}
	s.Pods[name] = &pod
	return true
}

// Resize applies the resources of containers that are to be resized, like an optimistic node. It
// reports false if there are none, or if the node has reported that it cannot resize them.
func (s *Simulated) Resize(name string) bool {
	stored := s.Pods[name]
	if !isRestarting(stored) {
		return false
	}
	note := noteOf(stored)
	if !note.isBeingResized(stored) || note.isInfeasible(stored) {
		return false
	}
	pod := *stored
	pod.Status.Conditions = slices.DeleteFunc(slices.Clone(pod.Status.Conditions), func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress
	})
	pod.Status.ContainerStatuses = resizedStatuses(pod.Status.ContainerStatuses, pod.Spec.Containers)
	pod.Status.InitContainerStatuses = resizedStatuses(pod.Status.InitContainerStatuses, pod.Spec.InitContainers)
	if len(note.awaited(stored)) == 0 {
		pod.Status.ObservedGeneration = pod.Generation
	}
	s.Pods[name] = &pod
	return true
}

// resizedStatuses are the statuses of containers after they got the resources in their spec.
func resizedStatuses(statuses []corev1.ContainerStatus, containers []corev1.Container) []corev1.ContainerStatus {
	statuses = slices.Clone(statuses)
	for i := range containers {
		at := slices.IndexFunc(statuses, func(c corev1.ContainerStatus) bool { return c.Name == containers[i].Name })
		if at < 0 {
			at = len(statuses)
			statuses = append(statuses, corev1.ContainerStatus{Name: containers[i].Name})
		}
		statuses[at].Resources = containers[i].Resources.DeepCopy()
	}
	return statuses
}
