// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "statefulset.dev/api/apps/v1"
)

// validateObjectRetention wants policies that there are, and a delay only where something is deleted
// after it.
func validateObjectRetention(spec *v1.StatefulSetSpec, t *v1.ObjectTemplate, path *field.Path) field.ErrorList {
	retention := t.Retention
	if retention == nil {
		return nil
	}
	const remove, retain = v1.DeleteObjectRetentionPolicyType, v1.RetainObjectRetentionPolicyType
	errs := validateObjectRetentionType(retention.WhenScaled, path.Child("whenScaled"), remove, retain)
	errs = append(errs, validateObjectRetentionType(retention.WhenDeleted, path.Child("whenDeleted"), remove, retain)...)
	_, deletes := t.DeletesScaled()
	if (deletes || t.DeletesWithSet()) && mustOutliveClaims(spec, t) {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("a generated Secret must outlive the claims; use %s", retain)))
	}
	if seconds, at := retention.ScaledAfterSeconds, path.Child("scaledAfterSeconds"); seconds != nil {
		if *seconds < 1 {
			errs = append(errs, field.Invalid(at, *seconds, "must be at least 1"))
		}
		if !deletes {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("only with whenScaled %q", v1.DeleteObjectRetentionPolicyType)))
		}
	}
	return errs
}

func validateObjectRetentionType(value v1.ObjectRetentionPolicyType, path *field.Path,
	valid ...v1.ObjectRetentionPolicyType) field.ErrorList {
	if value == "" || slices.Contains(valid, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, valid)}
}
