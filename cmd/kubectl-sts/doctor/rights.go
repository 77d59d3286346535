// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	v1 "statefulset.dev/api/apps/v1"
)

// right is a permission that the server needs.
type right struct {
	group, resource string
	verbs           []string
	// name limits the right to one object, if it is not empty.
	name string
	// namespace is where the server needs the right, everywhere if empty.
	namespace string
}

// names returns the resource names of a rule that grants the right.
func (r right) names() []string {
	if r.name == "" {
		return nil
	}
	return []string{r.name}
}

// neededRights returns the rights in artifacts/base that the server needs to run members.
func neededRights() []right {
	return []right{
		{resource: "pods", verbs: []string{"get", "list", "watch", "create", "patch", "delete"}},
		{resource: "persistentvolumeclaims", verbs: []string{"list", "watch", "create", "patch"}},
		{group: "apps", resource: "controllerrevisions", verbs: []string{"get", "list", "watch", "create", "patch", "delete"}},
		{resource: "events", verbs: []string{"create", "patch"}},
		{resource: "namespaces", verbs: []string{"get", "list", "watch"}},
		{group: "authentication.k8s.io", resource: "tokenreviews", verbs: []string{"create"}},
		{group: "authorization.k8s.io", resource: "subjectaccessreviews", verbs: []string{"create"}},
		{group: v1.GroupName, resource: "statefulsets/finalizers", verbs: []string{"update"}},
	}
}

// rights checks that the host cluster grants the server the rights that it needs.
func (e *examiner) rights(ctx context.Context) []finding {
	about := fmt.Sprintf("rights of service account %s/statefulset-apiserver", e.system)
	missing, err := e.missingRights(ctx, neededRights())
	if err != nil {
		return []finding{skipFinding(about, err)}
	}
	found := []finding{okFinding(about, "it has all rights that it needs")}
	if len(missing) > 0 {
		found = []finding{failFinding(about, "it is not allowed to "+strings.Join(missing, ", "), "kubectl apply -k artifacts/base")}
	}
	return append(found, e.optionalRights(ctx)...)
}

// missingRights describes the rights that the server lacks.
func (e *examiner) missingRights(ctx context.Context, rights []right) ([]string, error) {
	var missing []string
	for _, needed := range rights {
		for _, verb := range needed.verbs {
			allowed, err := e.serverMay(ctx, needed, verb)
			if err != nil {
				return nil, err
			}
			if !allowed {
				missing = append(missing, verb+" "+strings.TrimSuffix(needed.resource+"."+needed.group, "."))
			}
		}
	}
	return missing, nil
}

func (e *examiner) serverMay(ctx context.Context, needed right, verb string) (bool, error) {
	resource, subresource, _ := strings.Cut(needed.resource, "/")
	review, err := e.host.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   serviceaccount.MakeUsername(e.system, "statefulset-apiserver"),
			Groups: append(serviceaccount.MakeGroupNames(e.system), "system:authenticated"),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: needed.group, Resource: resource, Subresource: subresource, Verb: verb, Name: needed.name, Namespace: needed.namespace,
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}
