// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/preflight"
)

// reshaping warns of changes of claim templates that claims that exist do not follow, and
// of removed templates that members may still need. Of many, the first few are named.
func reshaping(set, old *v1.StatefulSet) []string {
	before := map[string]*corev1.PersistentVolumeClaim{}
	for i := range old.Spec.VolumeClaimTemplates {
		before[old.Spec.VolumeClaimTemplates[i].Name] = &old.Spec.VolumeClaimTemplates[i]
	}
	var texts []string
	for i := range set.Spec.VolumeClaimTemplates {
		template := &set.Spec.VolumeClaimTemplates[i]
		if was := before[template.Name]; was != nil && len(texts) < mostUnmounted {
			texts = append(texts, notFollowed(i, &template.Spec, &was.Spec)...)
		}
		delete(before, template.Name)
	}
	mounted := mountedNames(&old.Spec.Template.Spec)
	for i := range old.Spec.VolumeClaimTemplates {
		switch name := old.Spec.VolumeClaimTemplates[i].Name; {
		case before[name] == nil || len(texts) >= mostUnmounted:
		case mounted.Has(name):
			texts = append(texts,
				fmt.Sprintf(
					"spec.volumeClaimTemplates: %q was removed, and members that are recreated at a revision that mounts it cannot be created; its claims stay", name))
		case isUpdating(old):
			texts = append(texts,
				fmt.Sprintf(
					"spec.volumeClaimTemplates: %q was removed, and not all members are at the present revision yet: if one that they run mounts it, they cannot be created at it again; its claims stay", name))
		}
	}
	return texts
}

// isUpdating reports whether members may run another revision than that of the template, as far as
// the server knows: what such a revision mounts, it does not.
func isUpdating(set *v1.StatefulSet) bool {
	status := &set.Status
	return status.CurrentRevision != status.UpdateRevision || status.ObservedGeneration != set.Generation
}

// notFollowed are the changes of one template that leave claims that exist as they are.
func notFollowed(i int, spec, was *corev1.PersistentVolumeClaimSpec) (texts []string) {
	path := preflight.ClaimPath(i) + ".spec."
	size, before := spec.Resources.Requests[corev1.ResourceStorage], was.Resources.Requests[corev1.ResourceStorage]
	if size.Cmp(before) < 0 {
		texts = append(texts, fmt.Sprintf("%sresources[storage]: %s is less than before (%s): claims that exist keep their size", path,
			size.String(), before.String()))
	}
	if class := ptr.Deref(spec.StorageClassName, ""); class != ptr.Deref(was.StorageClassName, "") {
		texts = append(texts, fmt.Sprintf("%sstorageClassName: %q is for new claims: claims that exist keep their class", path, class))
	}
	return texts
}

// mountedNames are the volumes that containers of a pod mount.
func mountedNames(spec *corev1.PodSpec) sets.Set[string] {
	used := sets.New[string]()
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for _, mount := range containers[i].VolumeMounts {
				used.Insert(mount.Name)
			}
			for _, device := range containers[i].VolumeDevices {
				used.Insert(device.Name)
			}
		}
	}
	return used
}
