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

// resizable are the resources that a host cluster can change in a running pod.
func resizable() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// resize records the differences in CPU and memory between the containers of two specs, and applies
// them to the first spec. It also sets the defaults that the host cluster sets in a pod, so that
// the remaining differences are not resizes. It does not change lists that the specs share with
// others.
func (c *InPlaceChange) resize(before, after *corev1.PodSpec) {
	before.Containers, after.Containers = withRequests(before.Containers), withRequests(after.Containers)
	before.InitContainers, after.InitContainers = withRequests(before.InitContainers), withRequests(after.InitContainers)
	c.takeResources(before.Containers, after.Containers, func(*corev1.Container) bool { return true })
	c.takeResources(before.InitContainers, after.InitContainers, isSidecar)
}

// withRequests returns containers whose missing requests are set to their limits. The host cluster
// does this for pods, but not for templates.
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

// takeResources records the CPU and memory that differ between containers of the same names, if
// both set them, and applies those of others.
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

// restartsFor reports whether a container is restarted to change these resources, according to its
// policies.
func restartsFor(policies []corev1.ContainerResizePolicy, changed corev1.ResourceRequirements) bool {
	return slices.ContainsFunc(policies, func(policy corev1.ContainerResizePolicy) bool {
		_, requests := changed.Requests[policy.ResourceName]
		_, limits := changed.Limits[policy.ResourceName]
		return policy.RestartPolicy == corev1.RestartContainer && (requests || limits)
	})
}

// changedQuantities are the new quantities of CPU and memory that both lists have and that differ.
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

// MergeResources returns resources in which others win. It changes neither argument.
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

// notResized returns the reason why the resources of the pod cannot be changed, or an empty string:
// its QoS class would change, or a volume shows them.
func (c *InPlaceChange) notResized(from, to *corev1.PodSpec) string {
	if len(c.Resources) == 0 {
		return ""
	}
	if before, after := qosClass(from), qosClass(to); before != after {
		return fmt.Sprintf("the QoS class of the pod would change from %s to %s", before, after)
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

// downwardFiles are the files of a volume that show fields of the pod.
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

// readResource names the resource that a container reads, if that resource changes. The selector
// may name another container.
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

// qosClass is the class that a host cluster assigns to a pod. Its node uses it to decide which pods
// to evict when memory runs out. A resize cannot change it.
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
