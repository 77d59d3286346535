// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// allowed returns an error with the missing permissions, before anything is changed.
func (r *run) allowed(ctx context.Context) error {
	var lacking []string
	for _, needed := range r.needed() {
		for verb := range strings.FieldsSeq(needed.verbs) {
			attributes := needed.ResourceAttributes
			attributes.Verb = verb
			review, err := r.host.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes},
			}, metav1.CreateOptions{})
			if err != nil {
				return fmt.Errorf("checking permissions: %w", err)
			}
			if !review.Status.Allowed {
				lacking = append(lacking, verb+" "+nameOf(attributes))
			}
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("nothing was changed, because permissions are missing: %s", strings.Join(lacking, ", "))
	}
	return nil
}

type right struct {
	authorizationv1.ResourceAttributes
	verbs string
}

func (r *run) needed() []right {
	on := func(group, resource, verbs string) right {
		return right{authorizationv1.ResourceAttributes{Group: group, Resource: resource, Version: "v1"}, verbs}
	}
	all := []right{
		on("", "pods", "list"), on("", "persistentvolumeclaims", "list"), on("apps", "controllerrevisions", "list"),
		on(v1.GroupName, "statefulsets", "list"),
	}
	if r.deleteSets || r.orphanMembers {
		all = append(all, on(v1.GroupName, "statefulsets", "delete"))
	}
	for _, o := range r.touched() {
		needed := on(o.kind.Group, o.kind.Resource, "get patch delete")
		needed.Namespace, needed.Name = r.namespaceOf(o), o.name
		all = append(all, needed)
	}
	return all
}

// nameOf returns the object of a right as an administrator would name it.
func nameOf(a authorizationv1.ResourceAttributes) string {
	name := strings.TrimSuffix(a.Resource+"."+a.Group, ".")
	if a.Name != "" {
		name += "/" + a.Name
	}
	if a.Namespace != "" {
		name += " in namespace " + a.Namespace
	}
	return name
}
