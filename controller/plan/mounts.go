// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// reportUnmounted reports a pod that does not mount a claim of its member. A new pod helps if the
// pod was created before the set had the claim template, and does not help if the cluster changes
// pods.
func reportUnmounted(f *facts, d *draft, m member) {
	if d.stalled != nil {
		return // finding the cause is slow, and only the first one is reported
	}
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		volume := f.world.Set.Spec.VolumeClaimTemplates[i].Name
		if !identity.MountsClaim(f.world.Set, volume, m.ordinal, m.pod) && f.hadClaim(d, m, volume) {
			d.stall(v1.ReasonClaimsNotMounted,
				"pod %s was created with claim %s as its volume %q and does not have it: a mutating admission webhook or policy of the cluster changed the pod, and would change the next one too; exclude the pods of this set from it",
				m.pod.Name, identity.ClaimName(volume, f.world.Set.Name, m.ordinal), volume)
			return
		}
	}
	d.stall(v1.ReasonClaimsNotMounted, "pod %s does not mount the claims of member %d; delete the pod to have it created with them",
		m.pod.Name, m.ordinal)
}

// hadClaim reports whether the controller created the pod of a member with the claim of a template
// as a volume. The pod records that, or it follows from the pod's revision: its containers mount
// the volume, and its template does not define it.
func (f *facts) hadClaim(d *draft, m member, volume string) bool {
	if made, noted := m.pod.Annotations[v1.ClaimTemplatesAnnotation]; noted {
		return made == identity.ClaimTemplates(f.world.Set)
	}
	source, err := f.recordedAs(revisionOf(m.pod))
	if err != nil {
		return false
	}
	template, wrong := d.pods.Template(source, m.ordinal)
	return wrong == nil && mountsVolume(&template.Spec, volume) && !hasVolume(&template.Spec, volume)
}

// mountsVolume reports whether a container of a pod mounts a volume.
func mountsVolume(spec *corev1.PodSpec, volume string) bool {
	mounts := func(c corev1.Container) bool { return slices.Contains(mountedBy(&c), volume) }
	return slices.ContainsFunc(spec.InitContainers, mounts) || slices.ContainsFunc(spec.Containers, mounts)
}
