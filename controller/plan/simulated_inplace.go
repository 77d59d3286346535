// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// inPlace carries out one of the actions of which updates in place are made.
func (s *Simulated) inPlace(action Action) error {
	if end, ends := action.(EndInPlace); ends {
		return hit(s, s.Pods, end.Pod, end.apply)
	}
	update, _ := action.(UpdateInPlace)
	return hit(s, s.Pods, update.Pod, update.apply)
}

// apply makes a pod what the action tells it to be. Whoever plays the node restarts the
// containers.
func (a UpdateInPlace) apply(pod *corev1.Pod) {
	pod.Labels, pod.Annotations = changed(pod.Labels, a.Labels), changed(pod.Annotations, a.Annotations)
	pod.Spec.Containers = withImages(pod.Spec.Containers, a.Images)
	pod.Spec.InitContainers = withImages(pod.Spec.InitContainers, a.Sidecars)
	if a.restarts() {
		pod.Generation++
	}
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
