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

// right is what the server must be allowed to do everywhere.
type right struct {
	group, resource string
	verbs           []string
}

// neededRights are those of artifacts/base without which members cannot be run.
func neededRights() []right {
	return []right{
		{"", "pods", []string{"get", "list", "watch", "create", "patch", "delete"}},
		{"", "persistentvolumeclaims", []string{"list", "watch", "create", "patch"}},
		{"apps", "controllerrevisions", []string{"get", "list", "watch", "create", "patch", "delete"}},
		{"", "events", []string{"create", "patch"}},
		{"", "namespaces", []string{"get", "list", "watch"}},
		{"authentication.k8s.io", "tokenreviews", []string{"create"}},
		{"authorization.k8s.io", "subjectaccessreviews", []string{"create"}},
		{v1.GroupName, "statefulsets/finalizers", []string{"update"}},
	}
}

// rights asks the host whether the server may do what it needs to.
func (e *examiner) rights(ctx context.Context) []finding {
	about := fmt.Sprintf("rights of service account %s/statefulset-apiserver", e.system)
	var missing []string
	for _, needed := range neededRights() {
		for _, verb := range needed.verbs {
			allowed, err := e.serverMay(ctx, needed, verb)
			if err != nil {
				return []finding{isUnknown(about, err)}
			}
			if !allowed {
				missing = append(missing, verb+" "+strings.TrimSuffix(needed.resource+"."+needed.group, "."))
			}
		}
	}
	if len(missing) > 0 {
		return []finding{isBroken(about, "it may not "+strings.Join(missing, ", "), "kubectl apply -k artifacts/base")}
	}
	return []finding{isFine(about, "it may do all that it needs to")}
}

func (e *examiner) serverMay(ctx context.Context, needed right, verb string) (bool, error) {
	resource, subresource, _ := strings.Cut(needed.resource, "/")
	review, err := e.host.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   serviceaccount.MakeUsername(e.system, "statefulset-apiserver"),
			Groups: append(serviceaccount.MakeGroupNames(e.system), "system:authenticated"),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: needed.group, Resource: resource, Subresource: subresource, Verb: verb,
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}
