// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

const claimKind = "PersistentVolumeClaim"

// validateClaimTemplates checks the names from which claim names are built, and everything that
// makes a claim invalid in every cluster.
func validateClaimTemplates(spec, stored *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.New[string]()
	for i := range spec.VolumeClaimTemplates {
		template, itemPath := &spec.VolumeClaimTemplates[i], path.Index(i)
		errs = append(errs, validateUniqueLabel(template.Name, taken, itemPath.Child("metadata", "name"))...)
		errs = append(errs, validateClaimMetadata(spec, template, storedClaim(stored, template.Name), itemPath.Child("metadata"))...)
		errs = append(errs, validateClaimSpec(&template.Spec, itemPath.Child("spec"))...)
	}
	return errs
}

// validateClaimUpdate accepts a change of claim templates if the set has volumeClaimUpdate.
// Otherwise it rejects the change as apps/v1 does, and names that field.
func validateClaimUpdate(spec, old *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	switch {
	case equality.Semantic.DeepEqual(spec.VolumeClaimTemplates, old.VolumeClaimTemplates):
		return nil
	case spec.VolumeClaimUpdate == nil:
		changed := firstChange(path.String(), spec.VolumeClaimTemplates, old.VolumeClaimTemplates)
		return field.ErrorList{
			field.Invalid(path, field.OmitValueType{}, "field is immutable"+changed+"; set spec.volumeClaimUpdate to change it")}
	default:
		return validateClaimTemplates(spec, old, path)
	}
}

func validateClaimUpdatePolicy(update *v1.StatefulSetVolumeClaimUpdate, path *field.Path) field.ErrorList {
	valid := []v1.VolumeClaimUpdatePolicyType{v1.InPlaceVolumeClaimUpdatePolicyType, v1.NewClaimsVolumeClaimUpdatePolicyType}
	if update == nil || update.Policy == "" || slices.Contains(valid, update.Policy) { // the tag rejects an empty policy
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Child("policy"), update.Policy, valid)}
}

func validateClaimSpec(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	errs := validateAccessModes(spec.AccessModes, path.Child("accessModes"))
	errs = append(errs, validateStorageRequest(spec, path.Child("resources").Key(string(corev1.ResourceStorage)))...)
	if spec.Selector != nil {
		errs = append(errs,
			metav1validation.ValidateLabelSelector(spec.Selector, metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
	}
	if class := spec.StorageClassName; class != nil && *class != "" {
		errs = append(errs, invalid(path.Child("storageClassName"), *class, apivalidation.NameIsDNSSubdomain(*class, false))...)
	}
	if mode := spec.VolumeMode; mode != nil && *mode != corev1.PersistentVolumeBlock && *mode != corev1.PersistentVolumeFilesystem {
		errs = append(errs, field.NotSupported(path.Child("volumeMode"), *mode,
			[]corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}))
	}
	// The host cluster accepts such a claim: it drops the source, and would bind the claim to an
	// empty volume.
	if from := spec.DataSource; from != nil && ptr.Deref(from.APIGroup, "") == "" && from.Kind != claimKind {
		errs = append(errs, field.Invalid(path.Child("dataSource"), from.Kind,
			fmt.Sprintf("must be %q, the only source in the core group; or set apiGroup", claimKind)))
	}
	return errs
}

func validateAccessModes(modes []corev1.PersistentVolumeAccessMode, path *field.Path) field.ErrorList {
	if len(modes) == 0 {
		return field.ErrorList{field.Required(path, "at least one access mode is needed")}
	}
	valid := sets.New(corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod)
	var errs field.ErrorList
	for _, mode := range modes {
		if !valid.Has(mode) {
			errs = append(errs, field.NotSupported(path, mode, sets.List(valid)))
		}
	}
	if asked := sets.New(modes...).Intersection(valid); asked.Has(corev1.ReadWriteOncePod) && asked.Len() > 1 {
		errs = append(errs, field.Forbidden(path, "ReadWriteOncePod cannot be combined with other access modes"))
	}
	return errs
}

func validateStorageRequest(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	size, ok := spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case !ok:
		return field.ErrorList{field.Required(path, "a claim must request storage")}
	case size.Sign() <= 0:
		return field.ErrorList{field.Invalid(path, size.String(), "must be greater than zero")}
	}
	return nil
}
