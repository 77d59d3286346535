// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// ResourcesOf are those that the host serves for objects of a kind, in the version that is named;
// none if it does not know the kind. The host is asked anew each time: what it serves changes with
// its custom resources. An error is of a host that has not answered.
func (h *Host) ResourcesOf(ctx context.Context, kind schema.GroupVersionKind) ([]metav1.APIResource, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	version := kind.GroupVersion()
	served, err := discovery.ToServerResourcesInterfaceWithContext(h.Client.Discovery()).ServerResourcesForGroupVersionWithContext(ctx,
		version.String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking the host cluster at %s what it serves of %s: %w", h.Config.Host, version, err)
	}
	var found []metav1.APIResource
	for _, resource := range served.APIResources {
		if resource.Kind == kind.Kind && !strings.Contains(resource.Name, "/") {
			found = append(found, resource)
		}
	}
	return found, nil
}

// May asks the host whether this server, and so its controller, has a right.
func (h *Host) May(ctx context.Context, right authorizationv1.ResourceAttributes) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	review, err := h.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("asking the host cluster at %s what this server may do: %w", h.Config.Host, err)
	}
	return review.Status.Allowed, nil
}
