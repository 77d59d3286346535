// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// spec is the part of a change that concerns the spec.
func (c change) spec() map[string]any {
	spec := map[string]any{}
	if c.size != nil {
		spec["resources"] = map[string]any{"requests": map[string]any{"storage": c.size}}
	}
	if c.attributesClass != "" {
		spec["volumeAttributesClassName"] = c.attributesClass
	}
	if len(c.images) > 0 {
		spec["containers"] = imagesPatch(c.images)
	}
	if len(c.sidecars) > 0 {
		spec["initContainers"] = imagesPatch(c.sidecars)
	}
	if len(c.resources) > 0 {
		spec["containers"] = resourcesPatch(c.resources)
	}
	if len(c.sidecarResources) > 0 {
		spec["initContainers"] = resourcesPatch(c.sidecarResources)
	}
	return spec
}

// resourcesPatch sets resources of containers. The cluster merges them with the others by the names
// of the containers and of the resources.
func resourcesPatch(resources map[string]corev1.ResourceRequirements) (patch []map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		patch = append(patch, map[string]any{"name": name, "resources": resources[name]})
	}
	return patch
}

// imagesPatch sets images of containers. The cluster merges them with the others by their names.
func imagesPatch(images map[string]string) (patch []map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(images)) {
		patch = append(patch, map[string]string{"name": name, "image": images[name]})
	}
	return patch
}
