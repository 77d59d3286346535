// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// resizable are the resources that a host changes of a pod that is there.
func resizable() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// resize notes what differs of the cpu and the memory of containers of two specs, gives it to
// those of the first, and completes both as the host completes a pod, so that what differs
// still is not for a resize. Lists that the specs share with others are not changed.
func (c *InPlaceChange) resize(before, after *corev1.PodSpec) {
	before.Containers, after.Containers = withRequests(before.Containers), withRequests(after.Containers)
	before.InitContainers, after.InitContainers = withRequests(before.InitContainers), withRequests(after.InitContainers)
	c.takeResources(before.Containers, after.Containers, func(*corev1.Container) bool { return true })
	c.takeResources(before.InitContainers, after.InitContainers, isSidecar)
}

// withRequests are containers that request what they are limited to and request nothing of:
// pods are completed so, templates are not.
func withRequests(containers []corev1.Container) []corev1.Container {
	containers = slices.Clone(containers)
	for i := range containers {
		resources := &containers[i].Resources
		if len(resources.Limits) == 0 {
			continue
		}
		requests := maps.Clone(resources.Limits)
		maps.Copy(requests, resources.Requests)
		resources.Requests = requests
	}
	return containers
}

// takeResources gives containers the cpu and the memory of others of the same names, as far as
// both say something of it, and notes it.
func (c *InPlaceChange) takeResources(containers, others []corev1.Container, may func(*corev1.Container) bool) {
	for i := range min(len(containers), len(others)) {
		one, other := &containers[i], &others[i]
		if one.Name != other.Name || !may(one) {
			continue
		}
		changed := corev1.ResourceRequirements{
			Requests: changedQuantities(one.Resources.Requests, other.Resources.Requests),
			Limits:   changedQuantities(one.Resources.Limits, other.Resources.Limits),
		}
		if len(changed.Requests)+len(changed.Limits) == 0 {
			continue
		}
		if c.Resources == nil {
			c.Resources = map[string]corev1.ResourceRequirements{}
		}
		c.Resources[one.Name] = changed
		c.ResizeRestarts = c.ResizeRestarts || restartsFor(one.ResizePolicy, changed)
		one.Resources = MergeResources(one.Resources, changed)
	}
}

// restartsFor reports whether a container is restarted to get resources, by its policies.
func restartsFor(policies []corev1.ContainerResizePolicy, changed corev1.ResourceRequirements) bool {
	return slices.ContainsFunc(policies, func(policy corev1.ContainerResizePolicy) bool {
		_, requests := changed.Requests[policy.ResourceName]
		_, limits := changed.Limits[policy.ResourceName]
		return policy.RestartPolicy == corev1.RestartContainer && (requests || limits)
	})
}

// changedQuantities are those of cpu and memory that both lists have, and that differ.
func changedQuantities(from, to corev1.ResourceList) (changed corev1.ResourceList) {
	for _, name := range resizable() {
		before, had := from[name]
		after, has := to[name]
		if !had || !has || before.Cmp(after) == 0 {
			continue
		}
		if changed == nil {
			changed = corev1.ResourceList{}
		}
		changed[name] = after
	}
	return changed
}

// MergeResources are resources with others on top. Neither is changed.
func MergeResources(resources, others corev1.ResourceRequirements) corev1.ResourceRequirements {
	resources.Requests = mergedQuantities(resources.Requests, others.Requests)
	resources.Limits = mergedQuantities(resources.Limits, others.Limits)
	return resources
}

func mergedQuantities(quantities, others corev1.ResourceList) corev1.ResourceList {
	if len(others) == 0 {
		return quantities
	}
	all := make(corev1.ResourceList, len(quantities)+len(others))
	maps.Copy(all, quantities)
	maps.Copy(all, others)
	return all
}

// notResized says why the pod cannot be given the resources, empty if it can: its QoS class
// would be another one, or a volume shows them.
func (c *InPlaceChange) notResized(from, to *corev1.PodSpec) string {
	if len(c.Resources) == 0 {
		return ""
	}
	if before, after := qosClass(from), qosClass(to); before != after {
		return fmt.Sprintf("the QoS class of the pod would be %s and no longer %s", after, before)
	}
	for i := range to.Volumes {
		for _, file := range downwardFiles(&to.Volumes[i]) {
			if file.ResourceFieldRef == nil {
				continue
			}
			if read := c.readResource(file.ResourceFieldRef, ""); read != "" {
				return fmt.Sprintf("spec.volumes[%d] shows %s, which differs", i, read)
			}
		}
	}
	return ""
}

// downwardFiles are the files of a volume that show what a pod is.
func downwardFiles(volume *corev1.Volume) (files []corev1.DownwardAPIVolumeFile) {
	if volume.DownwardAPI != nil {
		files = append(files, volume.DownwardAPI.Items...)
	}
	if volume.Projected != nil {
		for _, source := range volume.Projected.Sources {
			if source.DownwardAPI != nil {
				files = append(files, source.DownwardAPI.Items...)
			}
		}
	}
	return files
}

// readResource says which resource of a container is read, by that container unless another is
// named; empty if it does not change.
func (c *InPlaceChange) readResource(source *corev1.ResourceFieldSelector, container string) string {
	container = cmp.Or(source.ContainerName, container)
	changed := c.Resources[container]
	kind, name, _ := strings.Cut(source.Resource, ".")
	list := changed.Requests
	if kind == "limits" {
		list = changed.Limits
	}
	if _, changes := list[corev1.ResourceName(name)]; !changes {
		return ""
	}
	return source.Resource + " of container " + container
}

// qosClass is the class that a host gives a pod, by which its node decides who goes first when
// memory runs out. No resize changes it.
func qosClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	guaranteed, asks := true, false
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for _, container := range withRequests(containers) {
			for _, name := range resizable() {
				request, limit := container.Resources.Requests[name], container.Resources.Limits[name]
				asks = asks || !request.IsZero() || !limit.IsZero()
				guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
			}
		}
	}
	switch {
	case !asks:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}
