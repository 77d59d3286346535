// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mostReservedKeys is the maximum number of reserved keys that a response names.
const mostReservedKeys = 10

// validateReserved rejects labels or annotations of a template with keys of our group. A key that
// is stored with the same value is accepted.
func validateReserved(values, stored map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(changed(values, stored))) {
		if identity.IsReserved(key) && len(errs) < mostReservedKeys {
			errs = append(errs,
				field.Forbidden(path.Key(key), "keys of "+v1.GroupName+" are set by the controller; remove it, or use a key of another domain"))
		}
	}
	return errs
}

// changed returns the values that are not stored.
func changed(values, stored map[string]string) map[string]string {
	news := maps.Clone(values)
	maps.DeleteFunc(news, func(key, value string) bool {
		was, has := stored[key]
		return has && was == value
	})
	return news
}

// validateClaimMetadata checks labels and annotations that the host cluster would reject on every
// claim of a template, and reserved keys. It ignores a label that a label of the selector replaces
// on the claim, and a text in which the controller replaces parameters, because the host cluster
// never sees them.
func validateClaimMetadata(spec *v1.StatefulSetSpec, template, stored *corev1.PersistentVolumeClaim, path *field.Path) field.ErrorList {
	labels, annotations := changed(template.Labels, stored.Labels), changed(template.Annotations, stored.Annotations)
	errs := validateReserved(template.Labels, stored.Labels, path.Child("labels"))
	errs = append(errs, validateReserved(template.Annotations, stored.Annotations, path.Child("annotations"))...)
	for key, value := range labels {
		switch {
		case spec.Selector != nil && has(spec.Selector.MatchLabels, key):
			delete(labels, key)
		case spec.Identity != nil && strings.Contains(value, "$("):
			labels[key] = "" // the host cluster validates the rendered value
		}
	}
	errs = append(errs, metav1validation.ValidateLabels(labels, path.Child("labels"))...)
	ofAnnotations := apivalidation.ValidateAnnotations(annotations, path.Child("annotations"))
	if err := apivalidation.ValidateAnnotationsSize(template.Annotations); err != nil && len(annotations) > 0 && len(ofAnnotations) == 0 {
		ofAnnotations = append(ofAnnotations, field.TooLong(path.Child("annotations"), "", apivalidation.TotalAnnotationSizeLimitB))
	}
	return append(errs, ofAnnotations...)
}

func has(values map[string]string, key string) bool {
	_, is := values[key]
	return is
}

// storedClaim returns the claim template of a name in a stored set, an empty one if there is none.
func storedClaim(stored *v1.StatefulSetSpec, name string) *corev1.PersistentVolumeClaim {
	for i := range stored.VolumeClaimTemplates {
		if stored.VolumeClaimTemplates[i].Name == name {
			return &stored.VolumeClaimTemplates[i]
		}
	}
	return &corev1.PersistentVolumeClaim{}
}

// storedOverride returns the override of a name in a stored set, an empty one if there is none.
func storedOverride(stored *v1.StatefulSetSpec, name string) *v1.MemberOverride {
	for i := range stored.Overrides {
		if stored.Overrides[i].Name == name {
			return &stored.Overrides[i]
		}
	}
	return &v1.MemberOverride{}
}
