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
// namespace. An error is of a host that has not answered.
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

// forbidden is a refusal that only another right changes.
func forbidden(request admission.Attributes, path *field.Path, format string, args ...any) error {
	return admission.NewForbidden(request, field.Forbidden(path, fmt.Sprintf(format, args...)))
}

// unanswered refuses for now what the host has said nothing about.
func unanswered(path *field.Path, err error) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("%s: the host cluster does not say whether it is allowed: %s", path, err))
}
