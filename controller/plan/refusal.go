// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// isRefusal reports whether an error is a considered answer of the host, which the
// same request would get again, and not a sign of trouble that may pass.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsUnauthorized(err)
}
