// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dependents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/retry"

	"statefulset.dev/registry/damaged"
)

// dependents are what belongs to one set in the host.
type dependents struct {
	client metadata.Interface
}

var _ damaged.Host = dependents{}

// New finds them with a client of the host.
func New(host metadata.Interface) damaged.Host { return dependents{host} }

// OwnerUID takes the newest object if there are some of an earlier set of the same name.
func (d dependents) OwnerUID(ctx context.Context, namespace, name string) (types.UID, error) {
	var newest metav1.PartialObjectMetadata
	var uid types.UID
	err := eachObject(ctx, d.client, namespace, func(_ schema.GroupVersionResource, object metav1.PartialObjectMetadata) error {
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
	return eachObject(ctx, d.client, namespace, func(resource schema.GroupVersionResource, object metav1.PartialObjectMetadata) error {
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

// refersTo matches the owner references that name a set of our group.
func refersTo(name string) func(metav1.OwnerReference) bool {
	return func(ref metav1.OwnerReference) bool {
		return isSet(ref) && ref.Name == name
	}
}
