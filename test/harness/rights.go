// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GoingWithTheSet is a merge patch by which a set has a ConfigMap for each member, and one of its own,
// that the garbage collector deletes when the set is gone.
const GoingWithTheSet = `{"spec":{"objectTemplates":[
  {"name":"conf","retention":{"whenDeleted":"Delete"},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"}}},
  {"name":"all","scope":"Set","retention":{"whenDeleted":"Delete"},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-all"}}}]}}`

// LetMake gives our controller the right to make objects of resources of the core group, and to do more
// with them. The host knows of it some time after that, if its controllers run.
func (c *Cluster) LetMake(t testing.TB, resources []string, more ...string) {
	t.Helper()
	_, err := c.Host.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "test-makes-" + strings.Join(slices.Concat(resources, more), "-"),
			Labels: map[string]string{"apps.statefulset.dev/aggregate-to-controller": "true"}},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: resources, Verbs: append([]string{"get", "list", "watch", "create", "patch"}, more...)}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("letting the controller make %s: %v", strings.Join(resources, ", "), err)
	}
}

// MayMake is LetMake, and waits until the host knows.
func (c *Cluster) MayMake(t testing.TB, resources []string, more ...string) {
	t.Helper()
	c.LetMake(t, resources, more...)
	for _, resource := range resources {
		Eventually(t, "the controller may make "+resource, func(ctx context.Context) error {
			review, err := c.Host.AuthorizationV1().SubjectAccessReviews().Create(ctx,
				&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User:               "system:serviceaccount:statefulset-system:statefulset-apiserver",
					ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Resource: resource},
				}}, metav1.CreateOptions{})
			if err == nil && !review.Status.Allowed {
				return fmt.Errorf("the host says %q", review.Status.Reason)
			}
			return err
		})
	}
}
