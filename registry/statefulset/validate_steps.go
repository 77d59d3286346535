// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// longestBake is a week.
const longestBake = 7 * 24 * 60 * 60

// validateSteps wants steps each of which goes further than the one before, and no partition
// beside what holds an update back, or takes it back, by itself.
func validateSteps(rolling *v1.RollingUpdateStatefulSetStrategy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	partitioned := rolling.Partition != nil && *rolling.Partition > 0
	if partitioned && len(rolling.Steps) > 0 {
		errs = append(errs,
			field.Forbidden(path.Child("steps"), fmt.Sprintf("not with partition %d: set it to 0, or leave it out", *rolling.Partition)))
	}
	switch policy := ptr.Deref(rolling.FailurePolicy, v1.WaitRolloutFailurePolicy); policy {
	case v1.WaitRolloutFailurePolicy:
	case v1.RollbackRolloutFailurePolicy:
		if partitioned {
			errs = append(errs, field.Forbidden(path.Child("failurePolicy"),
				fmt.Sprintf("Rollback not with partition %d: set it to 0, or leave it out", *rolling.Partition)))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("failurePolicy"), policy,
			[]v1.RolloutFailurePolicy{v1.RollbackRolloutFailurePolicy, v1.WaitRolloutFailurePolicy}))
	}
	if len(rolling.Steps) > v1.MostSteps {
		return errs // refused by the tag
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
		return errs // refused by the tag
	}
	for i, name := range step.PodConditions {
		errs = append(errs, validateStepCondition(step.PodConditions[:i], name, path.Child("podConditions").Index(i))...)
	}
	return errs
}

// validateStepCondition wants the name of a condition that the kubelet does not write.
func validateStepCondition(before []string, name string, path *field.Path) field.ErrorList {
	domain, _, _ := strings.Cut(name, "/")
	switch {
	case slices.Contains(before, name):
		return field.ErrorList{field.Duplicate(path, name)}
	case domain == name, name == string(corev1.PodReadyToStartContainers):
		return field.ErrorList{field.Invalid(path, name, "must have a domain, such as example.com/healthy: the others are the kubelet's")}
	}
	return metav1validation.ValidateLabelName(name, path)
}

// amount is the number of a step, or of its percentage; 0 if it has none.
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
