// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/retry"

	appsv1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/damaged"
)

// dependents are what belongs to a set in the host.
type dependents struct {
	client metadata.Interface
}

var _ damaged.Host = dependents{}

func newDependents(host *host) (dependents, error) {
	client, err := metadata.NewForConfig(host.config)
	if err != nil {
		return dependents{}, fmt.Errorf("creating a client for the host cluster at %s: %w", host.config.Host, err)
	}
	return dependents{client}, nil
}

// OwnerUID takes the newest object if there are some of an earlier set of the same name.
func (d dependents) OwnerUID(ctx context.Context, namespace, name string) (types.UID, error) {
	var newest metav1.PartialObjectMetadata
	var uid types.UID
	err := d.each(ctx, namespace, func(_ schema.GroupVersionResource, object metav1.PartialObjectMetadata) error {
		at := slices.IndexFunc(object.OwnerReferences, refersTo(name))
		if at >= 0 && (uid == "" || newest.CreationTimestamp.Before(&object.CreationTimestamp)) {
			newest, uid = object, object.OwnerReferences[at].UID
		}
		return nil
	})
	return uid, err
}

// Orphan changes every object, or says which could not be changed.
func (d dependents) Orphan(ctx context.Context, namespace, name string) error {
	return d.each(ctx, namespace, func(resource schema.GroupVersionResource, object metav1.PartialObjectMetadata) error {
		if !slices.ContainsFunc(object.OwnerReferences, refersTo(name)) {
			return nil
		}
		if err := d.orphan(ctx, resource, object, name); err != nil {
			return fmt.Errorf("taking the owner from %s %q: %w", resource.Resource, object.Name, err)
		}
		return nil
	})
}

// orphan looks again when somebody else has changed the object.
func (d dependents) orphan(ctx context.Context, resource schema.GroupVersionResource, object metav1.PartialObjectMetadata, name string) error {
	client := d.client.Resource(resource).Namespace(object.Namespace)
	uid := object.UID
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": object.UID, "resourceVersion": object.ResourceVersion,
			"ownerReferences": slices.DeleteFunc(slices.Clone(object.OwnerReferences), refersTo(name)),
		}})
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, object.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if !apierrors.IsConflict(err) {
			return err
		}
		// Our role may list claims, but not get one.
		latest, readErr := client.List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", object.Name).String()})
		switch {
		case readErr != nil:
			return readErr
		case len(latest.Items) == 0 || latest.Items[0].UID != uid:
			return nil // it is gone
		}
		object = latest.Items[0]
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// each visits everything in a namespace that could belong to a set.
func (d dependents) each(ctx context.Context, namespace string, visit func(schema.GroupVersionResource, metav1.PartialObjectMetadata) error) error {
	for _, resource := range owned() {
		options := metav1.ListOptions{Limit: membersPage}
		for {
			page, err := d.client.Resource(resource).Namespace(namespace).List(ctx, options)
			if err != nil {
				return fmt.Errorf("listing %s of namespace %q in the host cluster: %w", resource.Resource, namespace, err)
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

// refersTo matches the owner references that name a set of our group.
func refersTo(name string) func(metav1.OwnerReference) bool {
	return func(ref metav1.OwnerReference) bool {
		group, _, _ := strings.Cut(ref.APIVersion, "/")
		return group == appsv1.GroupName && ref.Kind == appsv1.Kind && ref.Name == name
	}
}
