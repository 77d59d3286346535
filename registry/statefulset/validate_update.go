// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
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

// validateMaxUnavailable accepts a number of at least 1, and 1% to 100%: with 0, no member
// could ever be done to what it is for.
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
