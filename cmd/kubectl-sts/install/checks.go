// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/version"
)

const (
	registrationName = "v1." + v1.GroupName
	defaultClass     = "storageclass.kubernetes.io/is-default-class"
	priorityClass    = "system-cluster-critical"
	dataClaim        = serverName + "-data"
	storeName        = serverName + "-etcd"
	storeNote        = serverName + "-store"
)

// check returns everything that would prevent the server from working, before anything is changed.
func (r *run) check(ctx context.Context, all []*unstructured.Unstructured) error {
	host, err := r.host.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("the cluster does not answer: %w", err)
	}
	if problem := version.UntestedHost(host.GitVersion); problem != "" {
		r.printf("warning: %s", problem)
	}
	return errors.Join(r.checkRegistration(ctx), r.checkStore(ctx), r.checkPriority(ctx), r.checkRights(ctx, all))
}

// checkRegistration refuses to take over an API group that another server serves.
func (r *run) checkRegistration(ctx context.Context) error {
	kind := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	there, err := r.objects.Resource(kind).Get(ctx, registrationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("getting APIService %s: %w", registrationName, err)
	}
	name, _, _ := unstructured.NestedString(there.Object, "spec", "service", "name")
	in, _, _ := unstructured.NestedString(there.Object, "spec", "service", "namespace")
	switch {
	case name == "":
		return fmt.Errorf(
			"APIService %s exists without a Service: a CustomResourceDefinition may serve the group; first remove what created it",
			registrationName)
	case name != serverName || in != namespace:
		return fmt.Errorf("APIService %s points to Service %s/%s, which is not part of this installation: first remove what created it",
			registrationName, in, name)
	}
	return nil
}

func (r *run) checkPriority(ctx context.Context) error {
	_, err := r.host.SchedulingV1().PriorityClasses().Get(ctx, priorityClass, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("PriorityClass %s, which every cluster has, is missing: the server's pod would not be created", priorityClass)
	}
	if err != nil {
		return fmt.Errorf("getting PriorityClass %s: %w", priorityClass, err)
	}
	return nil
}

// checkRights checks that the user is allowed to apply each kind. One error lists all missing
// permissions.
func (r *run) checkRights(ctx context.Context, all []*unstructured.Unstructured) error {
	var missing []string
	asked := map[string]bool{}
	for _, object := range all {
		kind := object.GroupVersionKind()
		mapping, err := r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return fmt.Errorf("the cluster does not have the kind %s of %s: %w", kind.Kind, kind.GroupVersion(), err)
		}
		for _, verb := range []string{"create", "patch"} {
			what := verb + " " + strings.TrimSuffix(mapping.Resource.Resource+"."+mapping.Resource.Group, ".")
			if object.GetNamespace() != "" {
				what += " in " + object.GetNamespace()
			}
			if asked[what] {
				continue
			}
			asked[what] = true
			answer, err := r.host.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: object.GetNamespace(), Verb: verb, Group: mapping.Resource.Group, Resource: mapping.Resource.Resource,
				}},
			}, metav1.CreateOptions{})
			if err != nil {
				return fmt.Errorf("checking your permissions: %w", err)
			}
			if !answer.Status.Allowed {
				missing = append(missing, what)
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("you are not allowed to %s: ask a cluster administrator to install the server", strings.Join(missing, ", "))
	}
	return nil
}
