// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// userMay asks whether the user of a request may do something to any object of a resource in its
// namespace. It returns an error if the host cluster does not answer.
func userMay(ctx context.Context, rights authorizer.Authorizer, request admission.Attributes, verb string,
	resource schema.GroupVersionResource) (bool, error) {
	decision, _, err := rights.Authorize(ctx, authorizer.AttributesRecord{
		User: request.GetUserInfo(), Verb: verb, Namespace: request.GetNamespace(),
		APIGroup: resource.Group, APIVersion: resource.Version, Resource: resource.Resource, ResourceRequest: true,
	})
	if decision == authorizer.DecisionAllow {
		return true, nil
	}
	return false, err
}

// forbidden returns a refusal that only a change of rights resolves.
func forbidden(request admission.Attributes, path *field.Path, format string, args ...any) error {
	return admission.NewForbidden(request, field.Forbidden(path, fmt.Sprintf(format, args...)))
}

// unanswered refuses a request for now, because the host cluster has not answered.
func unanswered(path *field.Path, err error) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("%s: the host cluster did not answer whether this is allowed: %s", path, err))
}
