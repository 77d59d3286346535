// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// apply makes a pod what the action tells it to be. Whoever plays the node restarts the
// containers. Of a pod that is kept without its containers, those that are to be resized are
// made up.
func (a UpdateInPlace) apply(pod *corev1.Pod) {
	pod.Labels, pod.Annotations = changed(pod.Labels, a.Labels), changed(pod.Annotations, a.Annotations)
	pod.Spec.Containers = withImages(pod.Spec.Containers, a.Images)
	pod.Spec.InitContainers = withImages(pod.Spec.InitContainers, a.Sidecars)
	for _, name := range a.Resized {
		isIt := func(c corev1.Container) bool { return c.Name == name }
		if !slices.ContainsFunc(pod.Spec.Containers, isIt) && !slices.ContainsFunc(pod.Spec.InitContainers, isIt) {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
		}
	}
	if a.restarts() {
		pod.Generation++
	}
}

// apply gives the containers of a pod other resources. Whoever plays the node sees to it that
// they have them.
func (a ResizePod) apply(pod *corev1.Pod) {
	pod.Spec.Containers = withResources(pod.Spec.Containers, a.Containers)
	pod.Spec.InitContainers = withResources(pod.Spec.InitContainers, a.Sidecars)
	pod.Generation++
}

func withResources(containers []corev1.Container, resources map[string]corev1.ResourceRequirements) []corev1.Container {
	containers = slices.Clone(containers)
	for i := range containers {
		if others, changes := resources[containers[i].Name]; changes {
			containers[i].Resources = identity.MergeResources(containers[i].Resources, others)
		}
	}
	return containers
}

func (a EndInPlace) apply(pod *corev1.Pod) {
	pod.Annotations = changed(pod.Annotations, map[string]*string{v1.InPlaceAnnotation: nil})
}

// changed are values of which some are others, and some, for which there is nil, gone.
func changed(values map[string]string, changes map[string]*string) map[string]string {
	all := merged(values, nil)
	for key, value := range changes {
		if value == nil {
			delete(all, key)
		} else {
			all[key] = *value
		}
	}
	return all
}

func withImages(containers []corev1.Container, images map[string]string) []corev1.Container {
	containers = slices.Clone(containers)
	for i := range containers {
		if image, changes := images[containers[i].Name]; changes {
			containers[i].Image = image
		}
	}
	return containers
}

// Restart is what a willing node makes of a pod that is updated in place: other containers.
// It reports false if there are none to be restarted.
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
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = slices.Clone(pod.Status.ContainerStatuses), slices.Clone(pod.Status.InitContainerStatuses)
	for _, container := range awaited {
		anew := corev1.ContainerStatus{Name: container, ContainerID: fmt.Sprintf("restarted://%s/%d", container, pod.Generation)}
		if at := slices.IndexFunc(pod.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container }); at >= 0 {
			pod.Status.InitContainerStatuses[at] = anew
			continue
		}
		pod.Status.ContainerStatuses = append(slices.DeleteFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container }), anew)
	}
	s.Pods[name] = &pod
	return true
}

// Resize is what a willing node makes of a pod whose containers are to have other resources:
// they have them. It reports false if there are none, or if the node has said that it cannot.
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

// resizedStatuses are those of containers that have the resources that they are to have.
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
