// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dependents

import (
	"context"
	"fmt"
	"iter"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	v1 "statefulset.dev/api/apps/v1"
)

// These are the resources whose objects can belong to a set.
const (
	Pods      = "pods"
	Claims    = "persistentvolumeclaims"
	Revisions = "controllerrevisions"

	// PageSize is how many objects are listed at once.
	PageSize = 500
)

// owned are the kinds of objects to which the controller adds owner references.
func owned() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: Pods},
		{Version: "v1", Resource: Claims},
		{Group: "apps", Version: "v1", Resource: Revisions},
	}
}

// eachObject visits everything in a namespace, or in all namespaces, that could belong to a set.
func eachObject(ctx context.Context, host metadata.Interface, namespace string,
	visit func(schema.GroupVersionResource, metav1.PartialObjectMetadata) error) error {
	for _, resource := range owned() {
		options := metav1.ListOptions{Limit: PageSize}
		for {
			page, err := host.Resource(resource).Namespace(namespace).List(ctx, options)
			if err != nil {
				return listError(resource.Resource, namespace, err)
			}
			for i := range page.Items {
				if err := visit(resource, page.Items[i]); err != nil {
					return err
				}
			}
			if options.Continue = page.Continue; options.Continue == "" {
				break
			}
		}
	}
	return nil
}

func listError(resource, namespace string, err error) error {
	if namespace == metav1.NamespaceAll {
		return fmt.Errorf("finding %s of sets in the host cluster: %w", resource, err)
	}
	return fmt.Errorf("listing %s of namespace %q in the host cluster: %w", resource, namespace, err)
}

// SetsOwning are the owner references of an object to sets of our API group.
func SetsOwning(object metav1.Object) iter.Seq[metav1.OwnerReference] {
	return func(yield func(metav1.OwnerReference) bool) {
		for _, ref := range object.GetOwnerReferences() {
			if isSet(ref) && !yield(ref) {
				return
			}
		}
	}
}

// isSet reports whether an owner reference is to a set of our API group.
func isSet(ref metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	return group == v1.GroupName && ref.Kind == v1.Kind
}
