// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mostReserved is the limit in the tag of the field.
const mostReserved = 100

// validateOrdinals rejects invalid and overlapping ranges, and ordinals above the maximum.
func validateOrdinals(spec *v1.StatefulSetSpec, path *field.Path) field.ErrorList {
	if spec.Ordinals == nil {
		return nil
	}
	if len(spec.Ordinals.Reserved) > mostReserved {
		return nil // the tag rejects it
	}
	if errs := validateRanges(spec.Ordinals.Reserved, path.Child("reserved")); len(errs) > 0 {
		return errs
	}
	highest, wanted := identity.OrdinalsOf(&v1.StatefulSet{Spec: *spec}).Last()
	if !wanted || highest <= math.MaxInt32 {
		return nil
	}
	reserved := ""
	if n := count(spec.Ordinals.Reserved); n > 0 {
		reserved = fmt.Sprintf(" and %d reserved ordinals", n)
	}
	return field.ErrorList{field.Invalid(path.Child("start"), int64(spec.Ordinals.Start),
		fmt.Sprintf("with %d replicas%s the highest ordinal would be %d; it must be at most %d", ptr.Deref(spec.Replicas, 1), reserved, highest,
			math.MaxInt32))}
}

// validateRanges requires valid ranges of ordinals that do not overlap.
func validateRanges(ranges []v1.OrdinalRange, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, r := range ranges {
		if r.First < 0 {
			errs = append(errs, atLeastZero(int64(r.First), path.Index(i).Child("first"))...)
			continue
		}
		if r.End() < r.First {
			errs = append(errs, field.Invalid(path.Index(i).Child("last"), r.End(), fmt.Sprintf("must not be less than first (%d)", r.First)))
			continue
		}
		overlaps := func(other v1.OrdinalRange) bool { return other.First <= r.End() && r.First <= other.End() }
		if at := slices.IndexFunc(ranges[:i], overlaps); at >= 0 {
			errs = append(errs, field.Invalid(path.Index(i), text(r), fmt.Sprintf("overlaps %s[%d], which is %s", path, at, text(ranges[at]))))
		}
	}
	return errs
}

// text formats a range for people.
func text(r v1.OrdinalRange) string {
	if r.End() == r.First {
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d to %d", r.First, r.End())
}

func count(ranges []v1.OrdinalRange) int64 {
	var n int64
	for _, r := range ranges {
		n += int64(r.End()) - int64(r.First) + 1
	}
	return n
}
