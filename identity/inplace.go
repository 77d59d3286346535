// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// InPlaceChange is what has to be changed of a pod that was made from one template for it
// to be as if it had been made from another.
type InPlaceChange struct {
	// Images are those that containers are to have, Sidecars those of init containers that
	// go on running, by the name of the container. Each of these is restarted.
	Images, Sidecars map[string]string
	// Resources are the cpu and the memory that containers and sidecars are to have, by the
	// name of the container: the requests and limits that change, and no others.
	Resources map[string]corev1.ResourceRequirements
	// ResizeRestarts is true if a container is restarted for its resources.
	ResizeRestarts bool
	// Labels and Annotations are the values that keys are to have, nil for one that is to go.
	Labels, Annotations map[string]*string
	// Prevented says why the pod has to be replaced, such as "spec.containers[0].env
	// differs"; empty if it has not.
	Prevented string
}

// Disturbs reports whether containers are restarted or resized, so that the pod may not serve
// in the meantime.
func (c *InPlaceChange) Disturbs() bool {
	return len(c.Images)+len(c.Sidecars)+len(c.Resources) > 0
}

// Restarts reports whether containers are restarted.
func (c *InPlaceChange) Restarts() bool {
	return len(c.Images)+len(c.Sidecars) > 0 || c.ResizeRestarts
}

// restartedAt is the annotation by which kubectl asks for a restart of all members.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// ChangeInPlace compares two templates, both with their defaults. The pod itself is no
// measure: whoever changes pods at admission may have changed it. resizes says whether the host
// changes the resources of pods.
func ChangeInPlace(from, to *corev1.PodTemplateSpec, resizes bool) InPlaceChange {
	before, after := from.Spec, to.Spec
	c := InPlaceChange{
		Labels: changedKeys(from.Labels, to.Labels, isLabelOfMember), Annotations: changedKeys(from.Annotations, to.Annotations, IsReserved)}
	before.Containers, c.Images = withImagesOf(to.Spec.Containers, from.Spec.Containers, func(*corev1.Container) bool { return true })
	before.InitContainers, c.Sidecars = withImagesOf(to.Spec.InitContainers, from.Spec.InitContainers, isSidecar)
	if resizes && before.Resources == nil && after.Resources == nil {
		c.resize(&before, &after)
	}
	c.Prevented = c.preventedBy(from, to, &before, &after)
	return c
}

// preventedBy says what differs that cannot be changed; before and after are the specs of the
// templates, the one with what can be changed as in the other.
func (c *InPlaceChange) preventedBy(from, to *corev1.PodTemplateSpec, before, after *corev1.PodSpec) string {
	meta, next := from.ObjectMeta, to.ObjectMeta
	meta.Labels, meta.Annotations, next.Labels, next.Annotations = nil, nil, nil, nil
	if field := firstDifference("metadata", &meta, &next); field != "" {
		return field + " differs"
	}
	if field := firstDifference("spec", before, after); field != "" {
		return field + " differs"
	}
	if _, asked := c.Annotations[restartedAt]; asked {
		return "metadata.annotations[" + restartedAt + "] asks for a restart"
	}
	if read := c.readByContainer(&to.Spec); read != "" {
		return read
	}
	return c.notResized(&from.Spec, &to.Spec)
}

// readByContainer says which environment variable has a label, an annotation or a resource that
// changes for its value: a container keeps the one with which it was started.
func (c *InPlaceChange) readByContainer(spec *corev1.PodSpec) string {
	for _, of := range []struct {
		field      string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range of.containers {
			for j := range of.containers[i].Env {
				if read := c.readBy(of.containers[i].Env[j].ValueFrom, of.containers[i].Name); read != "" {
					return fmt.Sprintf("spec.%s[%d].env[%d] reads %s, which differs", of.field, i, j, read)
				}
			}
		}
	}
	return ""
}

// readBy says what changes that a variable of a container has for its value, empty if nothing
// does.
func (c *InPlaceChange) readBy(source *corev1.EnvVarSource, container string) string {
	switch {
	case source == nil:
		return ""
	case source.FieldRef != nil && c.changes(source.FieldRef.FieldPath):
		return source.FieldRef.FieldPath
	case source.ResourceFieldRef != nil:
		return c.readResource(source.ResourceFieldRef, container)
	default:
		return ""
	}
}

// changes reports whether a field path, such as metadata.labels['tier'], names a label or
// an annotation that changes.
func (c *InPlaceChange) changes(path string) bool {
	key, closed := strings.CutSuffix(path, "']")
	if !closed {
		return false
	}
	if label, ok := strings.CutPrefix(key, "metadata.labels['"); ok {
		_, changes := c.Labels[label]
		return changes
	}
	if annotation, ok := strings.CutPrefix(key, "metadata.annotations['"); ok {
		_, changes := c.Annotations[annotation]
		return changes
	}
	return false
}

// withImagesOf are containers with the images of others of the same names, where that may
// be, and these images. Neither list is changed.
func withImagesOf(others, containers []corev1.Container, may func(*corev1.Container) bool) ([]corev1.Container, map[string]string) {
	containers = slices.Clone(containers)
	var images map[string]string
	for i := range min(len(containers), len(others)) {
		c, other := &containers[i], &others[i]
		if c.Name != other.Name || c.Image == other.Image || other.Image == "" || !may(c) {
			continue
		}
		if images == nil {
			images = map[string]string{}
		}
		c.Image, images[c.Name] = other.Image, other.Image
	}
	return containers, images
}

// isSidecar reports whether an init container goes on running. Any other has ended before
// the pod is ready, and is not started again for another image.
func isSidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// changedKeys are the values that keys are to have, nil for one that is to go. Keys that
// are not the template's are left out.
func changedKeys(from, to map[string]string, not func(string) bool) map[string]*string {
	changed := map[string]*string{}
	for key, value := range to {
		if before, had := from[key]; !not(key) && (!had || before != value) {
			changed[key] = &value
		}
	}
	for key := range from {
		if _, has := to[key]; !not(key) && !has {
			changed[key] = nil
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return changed
}

// isLabelOfMember reports whether a label of a pod says which member it is, and of which
// revision, whatever its template says.
func isLabelOfMember(key string) bool {
	return key == appsv1.StatefulSetPodNameLabel || key == appsv1.PodIndexLabel || key == RevisionLabel
}
