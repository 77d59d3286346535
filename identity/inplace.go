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

// InPlaceChange is the change that makes a pod that was built from one template equal to a pod that
// was built from another one.
type InPlaceChange struct {
	// Images are the new images of containers, and Sidecars those of init containers that keep
	// running, by the name of the container. Each of these containers is restarted.
	Images, Sidecars map[string]string
	// Resources are the new CPU and memory of containers and sidecars, by the name of the
	// container. They contain only the requests and limits that change.
	Resources map[string]corev1.ResourceRequirements
	// ResizeRestarts is true if a container is restarted for its resources.
	ResizeRestarts bool
	// Labels and Annotations are the new values by key. The value nil removes the key.
	Labels, Annotations map[string]*string
	// Prevented is the reason why the pod must be replaced, such as "spec.containers[0].env
	// differs". It is empty if the pod can be changed in place.
	Prevented string
}

// Disturbs reports whether containers are restarted or resized, so that the pod may not serve
// meanwhile.
func (c *InPlaceChange) Disturbs() bool {
	return len(c.Images)+len(c.Sidecars)+len(c.Resources) > 0
}

// Restarts reports whether containers are restarted.
func (c *InPlaceChange) Restarts() bool {
	return len(c.Images)+len(c.Sidecars) > 0 || c.ResizeRestarts
}

// restartedAt is the annotation with which kubectl requests a restart of all members.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// ChangeInPlace compares two templates, both with their defaults. It does not compare the pod,
// because admission in the host cluster may have changed it. resizes is true if the host cluster
// can resize pods.
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

// preventedBy returns the first difference that cannot be changed in place. before and after are
// the specs of the templates; before already has the parts of after that can be changed.
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
		return "metadata.annotations[" + restartedAt + "] requests a restart"
	}
	if read := c.readByContainer(&to.Spec); read != "" {
		return read
	}
	return c.notResized(&from.Spec, &to.Spec)
}

// readByContainer reports an environment variable that reads a label, an annotation or a resource
// that changes. A container keeps the value with which it was started.
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

// readBy returns the changed field that a variable of a container reads, or an empty string.
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

// changes reports whether a field path, such as metadata.labels['tier'], names a label or an
// annotation that changes.
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

// withImagesOf returns containers with the images of the containers of the same names in others,
// for which may is true, and the images that changed. It changes neither list.
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

// isSidecar reports whether an init container keeps running. Any other init container has ended
// before the pod is ready, and is not started again for another image.
func isSidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// changedKeys returns the new values by key, nil for a key that is removed. It ignores keys for
// which not is true, because the template does not set them.
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

// isLabelOfMember reports whether a label identifies the member or the revision of a pod, whatever
// the template contains.
func isLabelOfMember(key string) bool {
	return key == appsv1.StatefulSetPodNameLabel || key == appsv1.PodIndexLabel || key == RevisionLabel
}
