// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mostOverrides and mostRanges are the limits in the tags of the fields.
const mostOverrides, mostRanges = 50, 100

// validateOverrides requires overrides of different members, which name existing containers and
// claim templates, and do not change anything that identifies a pod as a member.
func validateOverrides(spec, stored *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	if len(spec.Overrides) > mostOverrides {
		return nil // the tag rejects it
	}
	taken, keys := sets.New[string](), selectedKeys(spec.Selector)
	templates, containers := claimTemplateNames(spec), containersOf(&spec.Template.Spec)
	var errs field.ErrorList
	for i := range spec.Overrides {
		override, at := &spec.Overrides[i], path.Index(i)
		errs = append(errs, validateUniqueLabel(override.Name, taken, at.Child("name"))...)
		errs = append(errs, validateOverridden(override.Ordinals, at.Child("ordinals"))...)
		errs = append(errs, validateOverrideMeta(override, storedOverride(stored, override.Name), keys, at)...)
		errs = append(errs, metav1validation.ValidateLabels(override.NodeSelector, at.Child("nodeSelector"))...)
		errs = append(errs, validateTolerations(override.Tolerations, at.Child("tolerations"))...)
		errs = append(errs, validateContainerOverrides(override.Containers, containers, at.Child("containers"))...)
		errs = append(errs, validateClaimOverrides(override.VolumeClaims, templates, at.Child("volumeClaims"))...)
		errs = append(errs, validateOverrideValues(override.Values, spec.Identity, at.Child("values"))...)
	}
	return append(errs, validateApart(spec.Overrides, path)...)
}

// selectedKeys are the keys of the labels in a selector.
func selectedKeys(selector *metav1.LabelSelector) sets.Set[string] {
	keys := sets.New[string]()
	if selector == nil {
		return keys
	}
	for key := range selector.MatchLabels {
		keys.Insert(key)
	}
	for _, requirement := range selector.MatchExpressions {
		keys.Insert(requirement.Key)
	}
	return keys
}

func claimTemplateNames(spec *v1.StatefulSetSpec) sets.Set[string] {
	names := sets.New[string]()
	for i := range spec.VolumeClaimTemplates {
		names.Insert(spec.VolumeClaimTemplates[i].Name)
	}
	return names
}

func validateOverridden(ordinals []v1.OrdinalRange, path *field.Path) field.ErrorList {
	switch n := len(ordinals); {
	case n == 0:
		return field.ErrorList{field.Required(path, "at least one range of ordinals is needed")}
	case n > mostRanges:
		return nil // the tag rejects it
	}
	return validateRanges(ordinals, path)
}

// overriddenRange is a range of ordinals with the index of its override.
type overriddenRange struct {
	v1.OrdinalRange
	override int
}

// validateApart rejects an override of a member that an earlier override in the list has, and names
// the first such member.
func validateApart(overrides []v1.MemberOverride, path *field.Path) field.ErrorList {
	var ranges []overriddenRange
	for i := range overrides {
		if len(overrides[i].Ordinals) > mostRanges {
			return nil // the tag rejects it
		}
		for _, r := range overrides[i].Ordinals {
			if r.First >= 0 && r.End() >= r.First {
				ranges = append(ranges, overriddenRange{r, i})
			}
		}
	}
	slices.SortStableFunc(ranges, func(a, b overriddenRange) int { return cmp.Compare(a.First, b.First) })
	none := overriddenRange{v1.OrdinalRange{First: -1}, -1}
	// Among the ranges before, furthest ends last, and other ends last among those of other
	// overrides.
	furthest, other := none, none
	var errs field.ErrorList
	complained := map[int]bool{}
	for _, r := range ranges {
		met := furthest
		if met.override == r.override {
			met = other
		}
		if earlier, later := min(met.override, r.override), max(met.override, r.override); met.End() >= r.First && !complained[later] {
			complained[later] = true
			errs = append(errs, field.Invalid(path.Index(later).Child("ordinals"), texts(overrides[later].Ordinals),
				fmt.Sprintf("%d is already overridden by %q", r.First, overrides[earlier].Name)))
		}
		switch {
		case r.End() > furthest.End() && r.override != furthest.override:
			furthest, other = r, furthest
		case r.End() > furthest.End():
			furthest = r
		case r.End() > other.End() && r.override != furthest.override:
			other = r
		}
	}
	return errs
}

// texts formats ranges for people.
func texts(ranges []v1.OrdinalRange) string {
	all := make([]string, 0, len(ranges))
	for _, r := range ranges {
		all = append(all, text(r))
	}
	return strings.Join(all, ", ")
}

// validateOverrideMeta rejects labels and annotations that identify the owner or the member of a
// pod.
func validateOverrideMeta(override, stored *v1.MemberOverride, selected sets.Set[string], path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(override.Labels, path.Child("labels"))
	ours := identity.Labels("", 0)
	for _, key := range slices.Sorted(maps.Keys(override.Labels)) {
		_, isOurs := ours[key]
		switch {
		case selected.Has(key):
			errs = append(errs, field.Forbidden(path.Child("labels").Key(key), "is in spec.selector"))
		case isOurs, key == identity.RevisionLabel:
			errs = append(errs, field.Forbidden(path.Child("labels").Key(key), "identifies the member of a pod, and is set by the controller"))
		}
	}
	errs = append(errs, validateReserved(override.Labels, stored.Labels, path.Child("labels"))...)
	errs = append(errs, apivalidation.ValidateAnnotations(override.Annotations, path.Child("annotations"))...)
	return append(errs, validateReserved(override.Annotations, stored.Annotations, path.Child("annotations"))...)
}

// validateTolerations validates the keys. The host cluster validates the rest.
func validateTolerations(tolerations []corev1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range tolerations {
		if key := tolerations[i].Key; key != "" {
			errs = append(errs, metav1validation.ValidateLabelName(key, path.Index(i).Child("key"))...)
		}
	}
	return errs
}

func validateClaimOverrides(claims []v1.VolumeClaimOverride, templates sets.Set[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[string]()
	for i := range claims {
		claim, at := &claims[i], path.Index(i)
		errs = append(errs, validateNamed(claim.Name, templates.Has(claim.Name), taken, at.Child("name"))...)
		if size := claim.Storage; size != nil && size.Sign() <= 0 {
			errs = append(errs, field.Invalid(at.Child("storage"), size.String(), "must be greater than zero"))
		}
		if class := claim.StorageClassName; class != nil && *class != "" {
			errs = append(errs, invalid(at.Child("storageClassName"), *class, apivalidation.NameIsDNSSubdomain(*class, false))...)
		}
		if class := claim.VolumeAttributesClassName; class != nil {
			errs = append(errs, invalid(at.Child("volumeAttributesClassName"), *class, apivalidation.NameIsDNSSubdomain(*class, false))...)
		}
	}
	return errs
}

// containersOf returns the containers of a pod by name.
func containersOf(pod *corev1.PodSpec) map[string]*corev1.Container {
	all := map[string]*corev1.Container{}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			all[containers[i].Name] = &containers[i]
		}
	}
	return all
}

// validateContainerOverrides requires containers that the template has. The host cluster validates
// the result.
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

// validateResources requires valid amounts. The most frequent mistake is to raise a request above
// the limit in the template.
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

// effective is the amount of a resource in the override or, if it has none, in the template.
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

// validateNamed requires a name that exists, and that is not in taken.
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
