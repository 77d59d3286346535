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

// ResourcesOf returns the resources that the host cluster serves for objects of a kind, in the
// version of the kind; none if it does not know the kind. It asks the cluster each time, because
// custom resources change what the cluster serves. It returns an error if the cluster does not
// answer.
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
		return nil, fmt.Errorf("reading what the host cluster at %s serves in %s: %w", h.Config.Host, version, err)
	}
	var found []metav1.APIResource
	for _, resource := range served.APIResources {
		if resource.Kind == kind.Kind && !strings.Contains(resource.Name, "/") {
			found = append(found, resource)
		}
	}
	return found, nil
}

// May asks the host cluster whether this server, and therefore its controller, has a right.
func (h *Host) May(ctx context.Context, right authorizationv1.ResourceAttributes) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	review, err := h.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("asking the host cluster at %s for the rights of this server: %w", h.Config.Host, err)
	}
	return review.Status.Allowed, nil
}
