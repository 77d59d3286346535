// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

func validateUpdateStrategy(strategy *v1.StatefulSetUpdateStrategy, path *field.Path) field.ErrorList {
	rollingPath := path.Child("rollingUpdate")
	switch strategy.Type {
	case v1.RollingUpdateStatefulSetStrategyType:
		return validateRollingUpdate(strategy.RollingUpdate, rollingPath)
	case v1.OnDeleteStatefulSetStrategyType, v1.RecreateStatefulSetStrategyType:
		if strategy.RollingUpdate == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(rollingPath, strategy.RollingUpdate,
			fmt.Sprintf("only allowed with type %q, but type is %q", v1.RollingUpdateStatefulSetStrategyType, strategy.Type))}
	}
	return field.ErrorList{field.Invalid(path, strategy,
		fmt.Sprintf("type must be %q, %q or %q", v1.RollingUpdateStatefulSetStrategyType,
			v1.OnDeleteStatefulSetStrategyType, v1.RecreateStatefulSetStrategyType))}
}

func validateRollingUpdate(rolling *v1.RollingUpdateStatefulSetStrategy, path *field.Path) field.ErrorList {
	if rolling == nil {
		return nil
	}
	var errs field.ErrorList
	if rolling.Partition != nil {
		errs = atLeastZero(int64(*rolling.Partition), path.Child("partition"))
	}
	if rolling.MaxUnavailable != nil {
		errs = append(errs, validateMaxUnavailable(*rolling.MaxUnavailable, "updated", path.Child("maxUnavailable"))...)
	}
	errs = append(errs, validateSteps(rolling, path)...)
	errs = append(errs, validateInPlace(rolling.InPlace, path.Child("inPlace"))...)
	return append(errs, validateOrder(rolling.Order, path.Child("order"))...)
}

// validateMaxUnavailable accepts a number of at least 1, or 1% to 100%. With 0, no member could
// ever be updated or created.
func validateMaxUnavailable(value intstr.IntOrString, done string, path *field.Path) field.ErrorList {
	amount, unit := value.IntValue(), ""
	if value.Type == intstr.String {
		if reasons := validation.IsValidPercent(value.StrVal); len(reasons) > 0 {
			return invalid(path, value, reasons)
		}
		unit = "%"
		var err error
		if amount, err = strconv.Atoi(strings.TrimSuffix(value.StrVal, unit)); err != nil {
			return field.ErrorList{field.Invalid(path, value, "must not be greater than 100%")}
		}
	}
	switch {
	case amount < 0:
		return atLeastZero(int64(amount), path)
	case amount == 0:
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must not be 0: no member could ever be %s", done))}
	case unit == "%" && amount > 100:
		return field.ErrorList{field.Invalid(path, value, "must not be greater than 100%")}
	}
	return nil
}

const (
	// mostFirst and mostLast are the limits in the tags of the fields.
	mostFirst, mostLast = 100, 8
	// mostRequirements limits a selector, because every sync matches it against every pod.
	mostRequirements = 16
)

// validateOrder requires a known direction, ranges of ordinals that do not overlap, and selectors
// that are not empty.
func validateOrder(order *v1.UpdateOrder, path *field.Path) field.ErrorList {
	if order == nil {
		return nil
	}
	var errs field.ErrorList
	switch order.Direction {
	case "", v1.AscendingUpdateDirectionType, v1.DescendingUpdateDirectionType:
	default:
		errs = append(errs, field.NotSupported(path.Child("direction"), order.Direction,
			[]v1.UpdateDirectionType{v1.AscendingUpdateDirectionType, v1.DescendingUpdateDirectionType}))
	}
	if len(order.First) <= mostFirst { // the tag rejects more
		errs = append(errs, validateRanges(order.First, path.Child("first"))...)
	}
	if len(order.Last) > mostLast {
		return errs // the tag rejects it
	}
	for i := range order.Last {
		errs = append(errs, validateLast(&order.Last[i], path.Child("last").Index(i))...)
	}
	return errs
}

func validateLast(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	switch n := len(selector.MatchLabels) + len(selector.MatchExpressions); {
	case n == 0:
		return field.ErrorList{field.Invalid(path, selector, "must not be empty: an empty selector would match every member")}
	case n > mostRequirements:
		return field.ErrorList{field.Invalid(path, n, fmt.Sprintf("must have at most %d labels and expressions", mostRequirements))}
	}
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

// longestBake is one week.
const longestBake = 7 * 24 * 60 * 60

// validateSteps requires that each step updates more members than the step before. It rejects a
// partition together with steps or Rollback, which hold back or revert an update themselves.
func validateSteps(rolling *v1.RollingUpdateStatefulSetStrategy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	partitioned := rolling.Partition != nil && *rolling.Partition > 0
	if partitioned && len(rolling.Steps) > 0 {
		errs = append(errs,
			field.Forbidden(path.Child("steps"), fmt.Sprintf("not allowed with partition %d: set partition to 0, or remove it", *rolling.Partition)))
	}
	switch policy := ptr.Deref(rolling.FailurePolicy, v1.WaitRolloutFailurePolicy); policy {
	case v1.WaitRolloutFailurePolicy:
	case v1.RollbackRolloutFailurePolicy:
		if partitioned {
			errs = append(errs, field.Forbidden(path.Child("failurePolicy"),
				fmt.Sprintf("Rollback is not allowed with partition %d: set partition to 0, or remove it", *rolling.Partition)))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("failurePolicy"), policy,
			[]v1.RolloutFailurePolicy{v1.RollbackRolloutFailurePolicy, v1.WaitRolloutFailurePolicy}))
	}
	if len(rolling.Steps) > v1.MostSteps {
		return errs // the tag rejects it
	}
	for i := range rolling.Steps {
		at := path.Child("steps").Index(i)
		errs = append(errs, validateStep(&rolling.Steps[i], at)...)
		if i > 0 && rolling.Steps[i-1].Updated.Type == rolling.Steps[i].Updated.Type &&
			amount(rolling.Steps[i-1].Updated) >= amount(rolling.Steps[i].Updated) {
			errs = append(errs, field.Invalid(at.Child("updated"), rolling.Steps[i].Updated.String(),
				fmt.Sprintf("must be more than in step %d, which has %s", i, rolling.Steps[i-1].Updated.String())))
		}
	}
	return errs
}

func validateStep(step *v1.RolloutStep, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := amount(step.Updated); n < 1 || step.Updated.Type == intstr.String && n > 100 {
		errs = append(errs, field.Invalid(path.Child("updated"), step.Updated.String(), "must be 1 or more, or 1% to 100%"))
	}
	if step.BakeSeconds < 0 || step.BakeSeconds > longestBake {
		errs = append(errs, field.Invalid(path.Child("bakeSeconds"), step.BakeSeconds, fmt.Sprintf("must be 0 to %d", longestBake)))
	}
	switch step.Approval {
	case "", v1.AutomaticRolloutStepApproval, v1.ManualRolloutStepApproval:
	default:
		errs = append(errs, field.NotSupported(path.Child("approval"), step.Approval,
			[]v1.RolloutStepApproval{v1.AutomaticRolloutStepApproval, v1.ManualRolloutStepApproval}))
	}
	if len(step.PodConditions) > v1.MostStepConditions {
		return errs // the tag rejects it
	}
	for i, name := range step.PodConditions {
		errs = append(errs, validateStepCondition(step.PodConditions[:i], name, path.Child("podConditions").Index(i))...)
	}
	return errs
}

// validateStepCondition requires a condition that the kubelet does not set.
func validateStepCondition(before []string, name string, path *field.Path) field.ErrorList {
	domain, _, _ := strings.Cut(name, "/")
	switch {
	case slices.Contains(before, name):
		return field.ErrorList{field.Duplicate(path, name)}
	case domain == name, name == string(corev1.PodReadyToStartContainers):
		return field.ErrorList{field.Invalid(path, name, "must have a domain, such as example.com/healthy: the kubelet sets conditions without a domain")}
	}
	return metav1validation.ValidateLabelName(name, path)
}

// amount is the number of a step, or its percentage. It is 0 for an invalid value.
func amount(value intstr.IntOrString) int {
	if value.Type == intstr.Int {
		return int(value.IntVal)
	}
	percent, isPercent := strings.CutSuffix(value.StrVal, "%")
	n, err := strconv.Atoi(percent)
	if !isPercent || err != nil || strconv.Itoa(n) != percent {
		return 0
	}
	return n
}

// mostDrainSeconds is the longest time for which a member can be drained before its restart.
const mostDrainSeconds = 3600

// validateInPlace requires a known policy, and a reasonable time.
func validateInPlace(update *v1.InPlaceUpdate, path *field.Path) field.ErrorList {
	valid := []v1.InPlaceUpdatePolicyType{v1.IfPossibleInPlaceUpdatePolicyType, v1.OnlyInPlaceUpdatePolicyType}
	if update == nil {
		return nil
	}
	var errs field.ErrorList
	if update.Policy != "" && !slices.Contains(valid, update.Policy) { // the tag rejects an empty policy
		errs = append(errs, field.NotSupported(path.Child("policy"), update.Policy, valid))
	}
	if drain := update.DrainSeconds; drain != nil && (*drain < 0 || *drain > mostDrainSeconds) {
		errs = append(errs, field.Invalid(path.Child("drainSeconds"), *drain, fmt.Sprintf("must be 0 to %d", mostDrainSeconds)))
	}
	return errs
}

// inPlaceImpossible warns about a template that no member can get, because that requires another
// pod, and the set does not allow that.
func inPlaceImpossible(set, old *v1.StatefulSet) []string {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.InPlace == nil || rolling.InPlace.Policy != v1.OnlyInPlaceUpdatePolicyType {
		return nil
	}
	change := identity.ChangeInPlace(&old.Spec.Template, &set.Spec.Template, true)
	if change.Prevented == "" {
		return nil
	}
	return []string{
		fmt.Sprintf(
			"spec.updateStrategy.rollingUpdate.inPlace.policy: with %s, no member gets the changed template: %s, and that cannot be changed in place; delete the pods so that they are recreated, or set %s",
			v1.OnlyInPlaceUpdatePolicyType, change.Prevented, v1.IfPossibleInPlaceUpdatePolicyType)}
}
