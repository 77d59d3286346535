// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// right is a permission that a move needs.
type right struct{ group, resource, subresource, verbs string }

// rights returns the permissions that moves in both directions and their undoing need.
func rights() []right {
	return []right{
		{appsv1.GroupName, "statefulsets", "", "get create patch delete"},
		{appsv1.GroupName, "statefulsets", "status", "update"},
		{appsv1.GroupName, "controllerrevisions", "", "list patch delete"},
		{v1.GroupName, "statefulsets", "", "get create patch delete"},
		{v1.GroupName, "statefulsets", "status", "update"},
		{"", "pods", "", "list"},
		{"", "persistentvolumeclaims", "", "list patch"},
	}
}

// allowed returns an error with the permissions that the user lacks in a namespace. To undo a move
// takes the permissions of a move back, so it checks both.
func (c cluster) allowed(ctx context.Context, namespace string) error {
	var lacking []string
	for _, right := range rights() {
		for verb := range strings.FieldsSeq(right.verbs) {
			review, err := c.host.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: namespace, Verb: verb, Group: right.group, Resource: right.resource, Subresource: right.subresource,
				}},
			}, metav1.CreateOptions{})
			if err != nil {
				return fmt.Errorf("checking permissions: %w", err)
			}
			if !review.Status.Allowed {
				lacking = append(lacking, verb+" "+right.String())
			}
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("permissions are missing in namespace %s: %s; nothing was changed", namespace, strings.Join(lacking, ", "))
	}
	return nil
}

func (r right) String() string {
	name := r.resource
	if r.group != "" {
		name += "." + r.group
	}
	if r.subresource != "" {
		name += "/" + r.subresource
	}
	return name
}
