// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsRefusal reports whether an error is a considered answer of the host, which the
// same request would get again, and not a sign of trouble that may pass.
func IsRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsUnauthorized(err) || isAmbiguous(err)
}

// isAmbiguous reports whether the host does not evict a pod because more than one budget has a
// say in it. It says so in words only.
func isAmbiguous(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && strings.Contains(err.Error(), "more than one PodDisruptionBudget")
}

// IsNotAllowed reports whether a budget does not let a pod be evicted now. That is neither a
// refusal nor trouble of the host: the same request may succeed later.
func IsNotAllowed(err error) bool {
	return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
}
