// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

// Validate returns the errors in a new set with its defaults. It checks everything that tags of the
// type cannot express; see the package comment. It evaluates expressions within the evaluation, nil
// for no limit.
func Validate(within *render.Evaluation, set *v1.StatefulSet) field.ErrorList {
	return validateNew(within, set, &v1.StatefulSetSpec{})
}

// ValidateRebuilt returns the errors in a set that is stored again after it was lost. It accepts
// labels and annotations of templates that the server rejects in a new set, because the server may
// have accepted them when the set was created.
func ValidateRebuilt(set *v1.StatefulSet) field.ErrorList { return validateNew(nil, set, &set.Spec) }

// validateNew validates a whole set, except labels and annotations that are the same in stored.
func validateNew(within *render.Evaluation, set *v1.StatefulSet, stored *v1.StatefulSetSpec) field.ErrorList {
	spec, path := &set.Spec, field.NewPath("spec")
	errs := validateName(set.Name, field.NewPath("metadata", "name"))
	errs = append(errs, validateFinalizers(set.Finalizers, field.NewPath("metadata", "finalizers"))...)
	errs = append(errs, validateServiceName(spec.ServiceName, path.Child("serviceName"))...)
	errs = append(errs, validateClaimTemplates(spec, stored, path.Child("volumeClaimTemplates"))...)
	errs = append(errs, validateTemplate(spec, stored, path.Child("template"))...)
	errs = append(errs, validateOverrides(spec, stored, path.Child("overrides"))...)
	errs = append(errs, validateIdentity(within, set, path)...)
	errs = append(errs, validateObjects(within, set, path)...)
	errs = append(errs, validateManifestKeys(set, nil, path)...)
	return append(errs, validateMutable(spec, path)...)
}

// ValidateUpdate returns the errors in a change of a set. It does not check what did not change: a
// set that was stored under weaker rules can still be scaled, and deleted if it has finalizers. The
// template must match the selector and the claims, so it is checked when one of them changes. An
// override may name a container that the template no longer has, because it must be possible to
// undo an update without changing the overrides.
func ValidateUpdate(within *render.Evaluation, set, old *v1.StatefulSet) field.ErrorList {
	spec, path := &set.Spec, field.NewPath("spec")
	errs := validateMutable(spec, path)
	if spec.ServiceName != old.Spec.ServiceName {
		errs = append(errs, validateServiceName(spec.ServiceName, path.Child("serviceName"))...)
	}
	errs = append(errs, validateSelectorUpdate(spec.Selector, old.Spec.Selector, path.Child("selector"))...)
	errs = append(errs, validateClaimUpdate(spec, &old.Spec, path.Child("volumeClaimTemplates"))...)
	if templateInputsChanged(spec, &old.Spec) {
		errs = append(errs, validateTemplate(spec, &old.Spec, path.Child("template"))...)
	}
	if !equality.Semantic.DeepEqual(spec.Overrides, old.Spec.Overrides) {
		errs = append(errs, validateOverrides(spec, &old.Spec, path.Child("overrides"))...)
	}
	if identityInputsChanged(spec, &old.Spec) {
		errs = append(errs,
			unlessStored(validateIdentity(within, set, path), func() field.ErrorList { return validateIdentity(within, old, path) })...)
	}
	if objectInputsChanged(spec, &old.Spec) {
		errs = append(errs,
			unlessStored(validateObjects(within, set, path), func() field.ErrorList { return validateObjects(within, old, path) })...)
	} else {
		errs = append(errs, validateRaised(within, set, old, path)...)
	}
	errs = append(errs, validateManifestKeys(set, old, path)...)
	errs = append(errs, validateRemovedOutputs(within, set, old, path.Child("objectTemplates"))...)
	errs = append(errs, validateAddedKeys(set, old, path.Child("objectTemplates"))...)
	return errs
}

// unlessStored removes the errors that the old set has with the same text, in any field. A stored
// set was valid when it was written, and stays valid.
func unlessStored(errs field.ErrorList, old func() field.ErrorList) field.ErrorList {
	if len(errs) == 0 {
		return nil
	}
	stored := old()
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return slices.ContainsFunc(stored, func(other *field.Error) bool {
			return err.Type == other.Type && err.Detail == other.Detail && equality.Semantic.DeepEqual(err.BadValue, other.BadValue)
		})
	})
}

func templateInputsChanged(spec, old *v1.StatefulSetSpec) bool {
	return !equality.Semantic.DeepEqual(spec.Template, old.Template) ||
		!equality.Semantic.DeepEqual(spec.Selector, old.Selector) ||
		!equality.Semantic.DeepEqual(spec.VolumeClaimTemplates, old.VolumeClaimTemplates)
}

// validateMutable validates the fields that every update can change, and fields whose tags do not
// check their content.
func validateMutable(spec *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	errs := validateManagementPolicy(spec.PodManagementPolicy, path.Child("podManagementPolicy"))
	errs = append(errs, validateUpdateStrategy(&spec.UpdateStrategy, path.Child("updateStrategy"))...)
	errs = append(errs, validateRetention(spec.PersistentVolumeClaimRetentionPolicy, path.Child("persistentVolumeClaimRetentionPolicy"))...)
	errs = append(errs, validateClaimUpdatePolicy(spec.VolumeClaimUpdate, path.Child("volumeClaimUpdate"))...)
	errs = append(errs, validateScaleStrategy(spec.ScaleStrategy, path.Child("scaleStrategy"))...)
	errs = append(errs, validateDisruption(spec.Disruption, path.Child("disruption"))...)
	errs = append(errs, validateGatesBesideSteps(spec, path)...)
	errs = append(errs, validateOrdinals(spec, path.Child("ordinals"))...)
	return append(errs, validateSelector(spec.Selector, path.Child("selector"))...)
}

// validateName does not require a name. The generic rules do.
func validateName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return invalid(path, name, apivalidation.NameIsDNSLabel(name, false))
}

// validateFinalizers requires names with a domain, except those of the garbage collector.
func validateFinalizers(finalizers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range finalizers {
		switch name {
		case metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, string(corev1.FinalizerKubernetes):
		default:
			if !strings.Contains(name, "/") {
				errs = append(errs, field.Invalid(path.Index(i), name, "must begin with a domain, as in example.com/name"))
			}
		}
	}
	return errs
}

func validateServiceName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return invalid(path, name, validation.IsDNS1123Label(name))
}

func validateManagementPolicy(policy v1.PodManagementPolicyType, path *field.Path) field.ErrorList {
	switch policy {
	case v1.OrderedReadyPodManagement, v1.ParallelPodManagement:
		return nil
	}
	return field.ErrorList{field.Invalid(path, policy,
		fmt.Sprintf("must be %q or %q", v1.OrderedReadyPodManagement, v1.ParallelPodManagement))}
}

func validateRetention(policy *v1.StatefulSetPersistentVolumeClaimRetentionPolicy, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	errs := validateRetentionType(policy.WhenDeleted, path.Child("whenDeleted"))
	errs = append(errs, validateRetentionType(policy.WhenScaled, path.Child("whenScaled"))...)
	if seconds, at := policy.ScaledAfterSeconds, path.Child("scaledAfterSeconds"); seconds != nil {
		if *seconds < 1 {
			errs = append(errs, field.Invalid(at, *seconds, "must be at least 1"))
		}
		if policy.WhenScaled != v1.DeletePersistentVolumeClaimRetentionPolicyType {
			errs = append(errs, field.Forbidden(at,
				fmt.Sprintf("only allowed with whenScaled %q", v1.DeletePersistentVolumeClaimRetentionPolicyType)))
		}
	}
	return errs
}

func validateRetentionType(value v1.PersistentVolumeClaimRetentionPolicyType, path *field.Path) field.ErrorList {
	valid := []v1.PersistentVolumeClaimRetentionPolicyType{
		v1.RetainPersistentVolumeClaimRetentionPolicyType,
		v1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	if slices.Contains(valid, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, valid)}
}

func validateSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return nil // the tag rejects it
	}
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Invalid(path, selector,
			"must not be empty: an empty selector would match every pod of the namespace")}
	}
	errs := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		errs = append(errs, field.Invalid(path, selector, "matches no pod: "+err.Error()))
	}
	return errs
}

func invalid(path *field.Path, value any, reasons []string) field.ErrorList {
	var errs field.ErrorList
	for _, reason := range reasons {
		errs = append(errs, field.Invalid(path, value, reason))
	}
	return errs
}

func atLeastZero(value int64, path *field.Path) field.ErrorList {
	if value >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, "must be greater than or equal to 0")}
}
