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

// GoingWithTheSet is a merge patch that adds a ConfigMap for each member, and one for the set,
// which the garbage collector deletes with the set.
const GoingWithTheSet = `{"spec":{"objectTemplates":[
  {"name":"conf","retention":{"whenDeleted":"Delete"},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-conf"}}},
  {"name":"all","scope":"Set","retention":{"whenDeleted":"Delete"},"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(SET)-all"}}}]}}`

// LetMake grants our controller the right to create objects of resources of the core group, and
// further verbs. The right takes effect some time after that, if the controllers of the host
// cluster run.
func (c *Cluster) LetMake(t testing.TB, resources []string, more ...string) {
	t.Helper()
	_, err := c.Host.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "test-makes-" + strings.Join(slices.Concat(resources, more), "-"),
			Labels: map[string]string{"apps.statefulset.dev/aggregate-to-controller": "true"}},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: resources, Verbs: append([]string{"get", "list", "watch", "create", "patch"}, more...)}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("granting the controller the right to create %s: %v", strings.Join(resources, ", "), err)
	}
}

// MayMake is LetMake, and waits until the right has taken effect.
func (c *Cluster) MayMake(t testing.TB, resources []string, more ...string) {
	t.Helper()
	c.LetMake(t, resources, more...)
	for _, resource := range resources {
		Eventually(t, "the controller may create "+resource, func(ctx context.Context) error {
			review, err := c.Host.AuthorizationV1().SubjectAccessReviews().Create(ctx,
				&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User:               "system:serviceaccount:statefulset-system:statefulset-apiserver",
					ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Resource: resource},
				}}, metav1.CreateOptions{})
			if err == nil && !review.Status.Allowed {
				return fmt.Errorf("the host cluster denies the right, with reason %q", review.Status.Reason)
			}
			return err
		})
	}
}
