// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
)

// containersOf are the containers of a pod by their names.
func containersOf(pod *corev1.PodSpec) map[string]*corev1.Container {
	all := map[string]*corev1.Container{}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			all[containers[i].Name] = &containers[i]
		}
	}
	return all
}

// validateContainerOverrides wants containers that the template has. The host judges what
// becomes of them.
func validateContainerOverrides(overrides []v1.ContainerOverride, containers map[string]*corev1.Container,
	path *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[string]()
	for i := range overrides {
		override, at := &overrides[i], path.Index(i)
		container := containers[override.Name]
		errs = append(errs, validateNamed(override.Name, container != nil, taken, at.Child("name"))...)
		errs = append(errs, validateEnv(override.Env, at.Child("env"))...)
		if override.Resources != nil {
			errs = append(errs, validateResources(override.Resources, container, at.Child("resources"))...)
		}
	}
	return errs
}

// validateResources wants amounts that there can be. The most frequent mistake is to raise a
// request above the limit that the template has.
func validateResources(override *corev1.ResourceRequirements, container *corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(override.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "only limits and requests can be overridden"))
	}
	errs = append(errs, validateAmounts(override.Limits, path.Child("limits"))...)
	errs = append(errs, validateAmounts(override.Requests, path.Child("requests"))...)
	if container == nil || len(errs) > 0 {
		return errs
	}
	names := sets.KeySet(override.Limits).Union(sets.KeySet(override.Requests))
	for _, name := range sets.List(names) {
		limit, limited := effective(override.Limits, container.Resources.Limits, name)
		request, requested := effective(override.Requests, container.Resources.Requests, name)
		if limited && requested && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), request.String(),
				fmt.Sprintf("must be less than or equal to the limit of %s", limit.String())))
		}
	}
	return errs
}

// effective is the amount of a resource: that of the override, or that of the template.
func effective(override, template corev1.ResourceList, name corev1.ResourceName) (resource.Quantity, bool) {
	if amount, ok := override[name]; ok {
		return amount, true
	}
	amount, ok := template[name]
	return amount, ok
}

func validateAmounts(amounts corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		at, amount := path.Key(string(name)), amounts[name]
		errs = append(errs, metav1validation.ValidateLabelName(string(name), at)...)
		if amount.Sign() < 0 {
			errs = append(errs, field.Invalid(at, amount.String(), "must be greater than or equal to 0"))
		}
	}
	return errs
}

// validateNamed wants the name of something that there is, once.
func validateNamed(name string, exists bool, taken sets.Set[string], path *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "")}
	case taken.Has(name):
		return field.ErrorList{field.Duplicate(path, name)}
	case !exists:
		return field.ErrorList{field.NotFound(path, name)}
	}
	taken.Insert(name)
	return nil
}

func validateEnv(env []corev1.EnvVar, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[string]()
	for i := range env {
		name, at := env[i].Name, path.Index(i).Child("name")
		errs = append(errs, validateNamed(name, true, taken, at)...)
		if name != "" {
			errs = append(errs, invalid(at, name, validation.IsRelaxedEnvVarName(name))...)
		}
	}
	return errs
}
