// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsRefusal reports whether an error is a deliberate answer of the host cluster, which the same
// request would get again, and not a temporary failure.
func IsRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsUnauthorized(err) || isAmbiguous(err)
}

// isAmbiguous reports whether the cluster does not evict a pod because more than one
// PodDisruptionBudget selects it. Only the text of the error says that.
func isAmbiguous(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && strings.Contains(err.Error(), "more than one PodDisruptionBudget")
}

// IsNotAllowed reports whether a PodDisruptionBudget does not allow an eviction now. That is
// neither a refusal nor a failure of the cluster: the same request may succeed later.
func IsNotAllowed(err error) bool {
	return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
}
