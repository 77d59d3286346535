// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// UpdateInPlace brings a pod to another revision without replacing the pod, in one write.
type UpdateInPlace struct {
	Ordinal  int
	Pod      Target
	Revision string
	// Images are the new images of containers, and Sidecars those of init containers, by the
	// name of the container. Each of these containers is restarted.
	Images, Sidecars map[string]string
	// Resized are the containers whose resources change. This action only records them; the
	// resources are another write, by ResizePod.
	Resized []string
	// Labels and Annotations are the values to set by key, nil for a key to remove. They include
	// the revision and the controller's record of the update.
	Labels, Annotations map[string]*string
	// AsBudgetsAllow is true if the executor first asks the cluster whether it would evict the
	// pod.
	AsBudgetsAllow bool
	// Turn is that of DeletePod.
	Turn string
	// Otherwise is carried out instead if the cluster rejects the update as invalid, nil if
	// nothing is.
	Otherwise *DeletePod
}

// restarts reports whether containers are restarted.
func (a UpdateInPlace) restarts() bool { return len(a.Images)+len(a.Sidecars) > 0 }

// ResizePod changes the cpu and memory of containers of a pod that is updated in place.
type ResizePod struct {
	Ordinal int
	Pod     Target
	// Containers and Sidecars are the new resources of containers and init containers, by the
	// name of the container. Resources that are not named stay.
	Containers, Sidecars map[string]corev1.ResourceRequirements
	// AsBudgetsAllow is that of UpdateInPlace.
	AsBudgetsAllow bool
	// Otherwise is that of UpdateInPlace.
	Otherwise *DeletePod
}

// EndInPlace removes the record of an update in place from a pod.
type EndInPlace struct {
	Ordinal int
	Pod     Target
	// Revision is that of the pod.
	Revision string
}

func (a UpdateInPlace) String() string {
	return fmt.Sprintf("update pod %s in place (%s)%s", a.Pod.Name, join(append(a.restarted(), a.resized()...), a.relabelled()...),
		ifBudgetsAllow(a.AsBudgetsAllow))
}

// resized names the containers whose resources change.
func (a UpdateInPlace) resized() (parts []string) {
	if len(a.Resized) == 0 {
		return nil
	}
	return []string{"resources of " + words.Few(a.Resized)}
}

// restarted names the containers whose image changes.
func (a UpdateInPlace) restarted() (parts []string) {
	names := slices.Sorted(maps.Keys(a.Images))
	names = append(names, slices.Sorted(maps.Keys(a.Sidecars))...)
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []string{"image of " + names[0]}
	default:
		return []string{"images of " + words.Few(names)}
	}
}

// relabelled names what changes in the metadata in addition to the revision.
func (a UpdateInPlace) relabelled() (parts []string) {
	if len(a.Labels) > 1 {
		parts = append(parts, "labels")
	}
	others := len(a.Annotations)
	if _, noted := a.Annotations[v1.InPlaceAnnotation]; noted {
		others--
	}
	if others > 0 {
		parts = append(parts, "annotations")
	}
	if len(parts) == 0 && !a.restarts() && len(a.Resized) == 0 {
		parts = append(parts, "revision")
	}
	return parts
}

func (a ResizePod) String() string {
	return fmt.Sprintf("resize pod %s in place (%s)%s", a.Pod.Name, words.Few(a.containers()), ifBudgetsAllow(a.AsBudgetsAllow))
}

// containers are the names of the containers that are resized, sorted.
func (a ResizePod) containers() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a.Containers)), maps.Keys(a.Sidecars))
	slices.Sort(names)
	return slices.Compact(names)
}

func (a EndInPlace) String() string { return "finish the in-place update of pod " + a.Pod.Name }

func (UpdateInPlace) action() {}
func (ResizePod) action()     {}
func (EndInPlace) action()    {}

// Apply changes a pod as the action says. The code that simulates the node restarts the containers.
// If a pod is kept in memory without its containers, Apply adds those that are to be resized.
func (a UpdateInPlace) Apply(pod *corev1.Pod) {
	pod.Labels, pod.Annotations = patched(pod.Labels, a.Labels), patched(pod.Annotations, a.Annotations)
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

// Apply changes the resources of containers in the spec of a pod. The code that simulates the node
// changes them in the status.
func (a ResizePod) Apply(pod *corev1.Pod) {
	pod.Spec.Containers = withResources(pod.Spec.Containers, a.Containers)
	pod.Spec.InitContainers = withResources(pod.Spec.InitContainers, a.Sidecars)
	pod.Generation++
}

// Apply removes the record of the update from a pod.
func (a EndInPlace) Apply(pod *corev1.Pod) {
	pod.Annotations = patched(pod.Annotations, map[string]*string{v1.InPlaceAnnotation: nil})
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

func withImages(containers []corev1.Container, images map[string]string) []corev1.Container {
	containers = slices.Clone(containers)
	for i := range containers {
		if image, changes := images[containers[i].Name]; changes {
			containers[i].Image = image
		}
	}
	return containers
}
