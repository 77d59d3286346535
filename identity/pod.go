// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// RevisionLabel is the label of a pod with the name of the ControllerRevision from which it was
// created.
const RevisionLabel = appsv1.ControllerRevisionHashLabelKey

// Owner is the owner reference of all objects that the set owns.
func Owner(set *v1.StatefulSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, v1.GroupVersionKind())
}

// Pod builds the pod of a member from a template, which is that of the set or of an earlier
// revision, and from the member's override. It renders nothing. The name of the revision becomes a
// label of the pod. The pod shares with the template what all members have in common. To change
// more than its labels, owners and status, a caller must copy it: in memory, a template may be a
// thousand times larger than in a request, and a set may have thousands of members.
func Pod(set *v1.StatefulSet, template *corev1.PodTemplateSpec, revision string, ordinal int) *corev1.Pod {
	return podOf(set, OverridesOf(set).Template(template, ordinal), revision, ordinal)
}

// Pod builds the pod of a member, as the function Pod does, and renders it.
func (o *Overrides) Pod(source Source, revision string, ordinal int) (*corev1.Pod, *render.Error) {
	template, err := o.Rendered(source, ordinal)
	if err != nil {
		return nil, err
	}
	return podOf(o.set, template, revision, ordinal), nil
}

// podOf builds the pod of a member from a template to which its override and its parameters have
// been applied.
func podOf(set *v1.StatefulSet, template *corev1.PodTemplateSpec, revision string, ordinal int) *corev1.Pod {
	name := PodName(set.Name, ordinal)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			GenerateName:    set.Name + "-",
			Namespace:       set.Namespace,
			Labels:          maps.Clone(template.Labels),
			Annotations:     template.Annotations,
			Finalizers:      template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{Owner(set)},
		},
		Spec: template.Spec,
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, Labels(set.Name, ordinal))
	pod.Labels[RevisionLabel] = revision
	if set.Spec.VolumeClaimUpdate != nil {
		pod.Annotations = maps.Clone(pod.Annotations)
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[v1.ClaimTemplatesAnnotation] = ClaimTemplates(set)
	}
	pod.Spec.Hostname = name
	pod.Spec.Subdomain = set.Spec.ServiceName
	pod.Spec.Volumes = volumes(set, ordinal, template.Spec.Volumes)
	return pod
}

// Labels are the labels that identify the member of a pod.
func Labels(set string, ordinal int) map[string]string {
	return map[string]string{
		appsv1.StatefulSetPodNameLabel: PodName(set, ordinal),
		appsv1.PodIndexLabel:           strconv.Itoa(ordinal),
	}
}

// volumes returns the volumes of the member's claims, and then those of the template. A claim
// replaces a volume of the same name.
func volumes(set *v1.StatefulSet, ordinal int, fromTemplate []corev1.Volume) []corev1.Volume {
	templates := set.Spec.VolumeClaimTemplates
	if len(templates) == 0 {
		return fromTemplate
	}
	claims := make(map[string]bool, len(templates))
	all := make([]corev1.Volume, 0, len(templates)+len(fromTemplate))
	for i := range templates {
		claims[templates[i].Name] = true
		all = append(all, corev1.Volume{
			Name: templates[i].Name,
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
				ClaimName: ClaimName(templates[i].Name, set.Name, ordinal),
			}},
		})
	}
	for _, volume := range fromTemplate {
		if !claims[volume.Name] {
			all = append(all, volume)
		}
	}
	return all
}

// MountsClaims reports whether the pod mounts all claims of its member, each with the name of its
// template.
func MountsClaims(set *v1.StatefulSet, ordinal int, pod *corev1.Pod) bool {
	var space [64]byte
	for i := range set.Spec.VolumeClaimTemplates {
		template := set.Spec.VolumeClaimTemplates[i].Name
		claim := AppendClaimName(space[:0], template, set.Name, ordinal)
		// A pod that this package built has the claims first, in their order.
		if i < len(pod.Spec.Volumes) && mounts(&pod.Spec.Volumes[i], template, claim) {
			continue
		}
		if !mountsAnywhere(pod, template, claim) {
			return false
		}
	}
	return true
}

// MountsClaim reports whether the pod mounts the member's claim of a template, with the name of the
// template.
func MountsClaim(set *v1.StatefulSet, template string, ordinal int, pod *corev1.Pod) bool {
	return mountsAnywhere(pod, template, []byte(ClaimName(template, set.Name, ordinal)))
}

func mountsAnywhere(pod *corev1.Pod, volume string, claim []byte) bool {
	for i := range pod.Spec.Volumes {
		if mounts(&pod.Spec.Volumes[i], volume, claim) {
			return true
		}
	}
	return false
}

func mounts(v *corev1.Volume, volume string, claim []byte) bool {
	return v.Name == volume && v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == string(claim)
}
