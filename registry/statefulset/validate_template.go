// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
)

// validateTemplate checks what a set requires of its template, and what the host cluster would
// reject for every pod. The host cluster validates the rest of a pod.
func validateTemplate(spec, stored *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	template, podPath := &spec.Template, path.Child("spec")
	errs := validateTemplateLabels(template.Labels, spec.Selector, path)
	errs = append(errs, apivalidation.ValidateAnnotations(template.Annotations, path.Child("annotations"))...)
	errs = append(errs, validateReserved(template.Labels, stored.Template.Labels, path.Child("metadata", "labels"))...)
	errs = append(errs, validateReserved(template.Annotations, stored.Template.Annotations, path.Child("metadata", "annotations"))...)
	if policy := template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(podPath.Child("restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(podPath.Child("activeDeadlineSeconds"), "must not be set: members of a StatefulSet have no deadline"))
	}
	return append(errs, validateContainers(spec, podPath)...)
}

func validateTemplateLabels(templateLabels map[string]string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(templateLabels, path.Child("labels"))
	matcher, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return errs // validateSelector reports the error
	}
	if !matcher.Empty() && !matcher.Matches(labels.Set(templateLabels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), templateLabels,
			fmt.Sprintf("must match spec.selector, which is %q", metav1.FormatLabelSelector(selector))))
	}
	return errs
}

func validateContainers(spec *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	pod := &spec.Template.Spec
	var errs field.ErrorList
	if len(pod.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), "at least one container is needed"))
	}
	taken, volumes := sets.New[string](), volumeNames(spec)
	for i := range pod.Containers {
		errs = append(errs, validateContainer(&pod.Containers[i], taken, volumes, path.Child("containers").Index(i))...)
	}
	for i := range pod.InitContainers {
		errs = append(errs, validateContainer(&pod.InitContainers[i], taken, volumes, path.Child("initContainers").Index(i))...)
	}
	return errs
}

// volumeNames are the names that a container can mount: the volumes of the template, and the claim
// templates.
func volumeNames(spec *v1.StatefulSetSpec) sets.Set[string] {
	names := sets.New[string]()
	for i := range spec.Template.Spec.Volumes {
		names.Insert(spec.Template.Spec.Volumes[i].Name)
	}
	for i := range spec.VolumeClaimTemplates {
		names.Insert(spec.VolumeClaimTemplates[i].Name)
	}
	return names
}

// validateContainer validates a container, and adds its name to taken.
func validateContainer(container *corev1.Container, taken, volumes sets.Set[string], path *field.Path) field.ErrorList {
	errs := validateUniqueLabel(container.Name, taken, path.Child("name"))
	if container.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), ""))
	}
	for i, mount := range container.VolumeMounts {
		if !volumes.Has(mount.Name) {
			errs = append(errs, field.NotFound(path.Child("volumeMounts").Index(i).Child("name"), mount.Name))
		}
	}
	for i, device := range container.VolumeDevices {
		if !volumes.Has(device.Name) {
			errs = append(errs, field.NotFound(path.Child("volumeDevices").Index(i).Child("name"), device.Name))
		}
	}
	return errs
}

// validateUniqueLabel requires a DNS label that is not in taken, and adds it.
func validateUniqueLabel(name string, taken sets.Set[string], path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if taken.Has(name) {
		return field.ErrorList{field.Duplicate(path, name)}
	}
	taken.Insert(name)
	return invalid(path, name, validation.IsDNS1123Label(name))
}
