// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
)

// mostGates is the limit in the tag of the field.
const mostGates = 8

// validateDisruption requires a known method, and gates that are valid and different.
func validateDisruption(disruption *v1.StatefulSetDisruption, path *field.Path) field.ErrorList {
	if disruption == nil {
		return nil
	}
	var errs field.ErrorList
	methods := []v1.DisruptionMethodType{v1.DeleteDisruptionMethodType, v1.EvictDisruptionMethodType}
	if disruption.Method != "" && !slices.Contains(methods, disruption.Method) {
		errs = append(errs, field.NotSupported(path.Child("method"), disruption.Method, methods))
	}
	if len(disruption.Gates) > mostGates {
		return errs // the tag rejects it
	}
	types := sets.New[string]()
	for i := range disruption.Gates {
		gate, gatePath := &disruption.Gates[i], path.Child("gates").Index(i)
		errs = append(errs, validateGateType(gate.ConditionType, types, gatePath.Child("conditionType"))...)
		errs = append(errs, validateGateOperations(gate.Operations, gatePath.Child("operations"))...)
		if seconds := gate.TimeoutSeconds; seconds != nil {
			errs = append(errs, atLeastZero(int64(*seconds), gatePath.Child("timeoutSeconds"))...)
		}
	}
	return errs
}

// validateGatesBesideSteps rejects a gate whose condition a step requires: a request makes the
// condition False, so the update would fail.
func validateGatesBesideSteps(spec *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	rolling := spec.UpdateStrategy.RollingUpdate
	if spec.Disruption == nil || rolling == nil || len(spec.Disruption.Gates) > mostGates || len(rolling.Steps) > v1.MostSteps {
		return nil
	}
	var errs field.ErrorList
	for i, gate := range spec.Disruption.Gates {
		at := slices.IndexFunc(rolling.Steps, func(step v1.RolloutStep) bool { return slices.Contains(step.PodConditions, gate.ConditionType) })
		if at >= 0 {
			errs = append(errs, field.Invalid(path.Child("disruption", "gates").Index(i).Child("conditionType"), gate.ConditionType,
				"must not be one of "+path.Child("updateStrategy", "rollingUpdate", "steps").Index(at).Child("podConditions").String()+
					": a request to the gate sets it to False, so the update would fail"))
		}
	}
	return errs
}

// validateGateType requires a condition that belongs neither to the host cluster nor to the server,
// which set their own conditions.
func validateGateType(name string, taken sets.Set[string], path *field.Path) field.ErrorList {
	domain, _, _ := strings.Cut(name, "/")
	switch {
	case name == "":
		return nil // the tag rejects it
	case taken.Has(name):
		return field.ErrorList{field.Duplicate(path, name)}
	case domain == name:
		return field.ErrorList{field.Invalid(path, name, "must have a domain, as in example.com/handed-over")}
	case domain == v1.GroupName:
		return field.ErrorList{field.Invalid(path, name, "must not have the domain "+v1.GroupName+": the controller sets its conditions")}
	}
	taken.Insert(name)
	return invalid(path, name, validation.IsQualifiedName(name))
}

func validateGateOperations(operations []v1.DisruptionOperationType, path *field.Path) field.ErrorList {
	valid := []v1.DisruptionOperationType{
		v1.ReplaceDisruptionOperationType, v1.ScaleDownDisruptionOperationType, v1.UpdateDisruptionOperationType}
	var errs field.ErrorList
	taken := sets.New[v1.DisruptionOperationType]()
	for i, operation := range operations {
		switch {
		case !slices.Contains(valid, operation):
			errs = append(errs, field.NotSupported(path.Index(i), operation, valid))
		case taken.Has(operation):
			errs = append(errs, field.Duplicate(path.Index(i), operation))
		}
		taken.Insert(operation)
	}
	return errs
}
