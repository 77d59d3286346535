// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	// mostFirst and mostLast are what the tags of the fields have.
	mostFirst, mostLast = 100, 8
	// mostRequirements bounds a selector: it is held against every pod at every look.
	mostRequirements = 16
)

// validateOrder wants a direction that there is, ranges of ordinals apart from each other,
// and selectors each of which tells members apart.
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
	if len(order.First) <= mostFirst { // more are refused by the tag
		errs = append(errs, validateRanges(order.First, path.Child("first"))...)
	}
	if len(order.Last) > mostLast {
		return errs // refused by the tag
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
