// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// hasOtherClaimsOrOverride reports whether a new pod of the same revision would differ from the pod
// of a member, because the pod was created with other claim templates, or with another override.
func (f *facts) hasOtherClaimsOrOverride(m member) bool {
	return f.hasOtherClaims(m) || f.hasOtherOverride(m)
}

// hasShape reports whether the shape of the pod of a member matters: the member is desired, and the
// pod is not terminating.
func (f *facts) hasShape(m member) bool {
	return m.pod != nil && !isTerminating(m.pod) && f.roster.Contains(m.ordinal)
}

// hasOtherClaims reports whether the pod of a member was created with other claim templates than
// the set has now, if the set requests such pods to be changed. If the pod was created before the
// set requested that, its mounts decide.
func (f *facts) hasOtherClaims(m member) bool {
	if f.world.Set.Spec.VolumeClaimUpdate == nil || !f.hasShape(m) {
		return false
	}
	if made, noted := m.pod.Annotations[v1.ClaimTemplatesAnnotation]; noted {
		return made != f.claimTemplates
	}
	return !identity.MountsClaims(f.world.Set, m.ordinal, m.pod) || f.mountsRemoved(m)
}

// mountsRemoved reports whether a pod mounts a claim that was created from a template, and that
// neither a claim template nor the pod template still defines.
func (f *facts) mountsRemoved(m member) bool {
	return slices.ContainsFunc(m.pod.Spec.Volumes, func(volume corev1.Volume) bool {
		claim := volume.PersistentVolumeClaim
		return claim != nil && claim.ClaimName == identity.ClaimName(volume.Name, f.world.Set.Name, m.ordinal) &&
			!hasClaimTemplate(f.world.Set, volume.Name) && !hasVolume(&f.world.Set.Spec.Template.Spec, volume.Name)
	})
}

func hasClaimTemplate(set *v1.StatefulSet, name string) bool {
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates,
		func(template corev1.PersistentVolumeClaim) bool { return template.Name == name })
}

func hasVolume(spec *corev1.PodSpec, name string) bool {
	return slices.ContainsFunc(spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == name })
}

// lackingVolume is a volume that a template mounts, but that neither the template nor a claim
// template defines, empty if there is none. This happens only to earlier revisions, if claim
// templates may be removed.
func (f *facts) lackingVolume(template *corev1.PodTemplateSpec) string {
	if f.world.Set.Spec.VolumeClaimUpdate == nil {
		return ""
	}
	for _, containers := range [][]corev1.Container{template.Spec.InitContainers, template.Spec.Containers} {
		for i := range containers {
			for _, name := range mountedBy(&containers[i]) {
				if !hasClaimTemplate(f.world.Set, name) && !hasVolume(&template.Spec, name) {
					return name
				}
			}
		}
	}
	return ""
}

func mountedBy(container *corev1.Container) (names []string) {
	for _, mount := range container.VolumeMounts {
		names = append(names, mount.Name)
	}
	for _, device := range container.VolumeDevices {
		names = append(names, device.Name)
	}
	return names
}

// reportShape reports members that do not mount the claims of the templates, or that have another
// override than the set says, and that are not recreated for that. The message is the same for any
// number of members.
func reportShape(f *facts, d *draft) verdict {
	if m, found := f.firstKept(f.hasOtherClaims); found {
		d.warn(v1.ReasonClaimsNotMounted, "members keep the claims that they mount until they are recreated, as %s does", f.podName(m))
	}
	if m, found := f.firstKept(f.hasOtherOverride); found {
		d.warn(v1.ReasonOtherOverride,
			"members keep the override that they were created with, or have none, until they are recreated, as %s does", f.podName(m))
	}
	return proceed
}

// firstKept is the first member whose pod differs in a way and is kept.
func (f *facts) firstKept(otherwise func(member) bool) (member, bool) {
	for _, m := range f.members {
		if otherwise(m) {
			if _, how := f.target(m); how == keep {
				return m, true
			}
		}
	}
	return member{}, false
}
