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
)

// Client finds and changes the objects of one set in the host cluster. It is the Host of
// registry/damaged.
type Client struct {
	host metadata.Interface
}

// New returns a client that uses a metadata client of the host cluster.
func New(host metadata.Interface) Client { return Client{host} }

// OwnerUID returns the UID in the newest object if some objects belong to an earlier set with the
// same name.
func (c Client) OwnerUID(ctx context.Context, namespace, name string) (types.UID, error) {
	var newest metav1.PartialObjectMetadata
	var uid types.UID
	err := eachObject(ctx, c.host, namespace, func(_ schema.GroupVersionResource, object metav1.PartialObjectMetadata) error {
		at := slices.IndexFunc(object.OwnerReferences, refersTo(name))
		if at >= 0 && (uid == "" || newest.CreationTimestamp.Before(&object.CreationTimestamp)) {
			newest, uid = object, object.OwnerReferences[at].UID
		}
		return nil
	})
	return uid, err
}

// Orphan changes every object, or returns which one could not be changed.
func (c Client) Orphan(ctx context.Context, namespace, name string) error {
	return eachObject(ctx, c.host, namespace, func(resource schema.GroupVersionResource, object metav1.PartialObjectMetadata) error {
		if !slices.ContainsFunc(object.OwnerReferences, refersTo(name)) {
			return nil
		}
		if err := c.orphan(ctx, resource, object, name); err != nil {
			return fmt.Errorf("removing the owner reference from %s %q: %w", resource.Resource, object.Name, err)
		}
		return nil
	})
}

// orphan reads the object again if another client has changed it.
func (c Client) orphan(ctx context.Context, resource schema.GroupVersionResource, object metav1.PartialObjectMetadata, name string) error {
	client := c.host.Resource(resource).Namespace(object.Namespace)
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
		// Our role allows to list claims, but not to get one.
		latest, readErr := client.List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", object.Name).String()})
		switch {
		case readErr != nil:
			return readErr
		case len(latest.Items) == 0 || latest.Items[0].UID != uid:
			return nil // it was deleted
		}
		object = latest.Items[0]
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// refersTo matches owner references to a set of our API group with a name.
func refersTo(name string) func(metav1.OwnerReference) bool {
	return func(ref metav1.OwnerReference) bool {
		return isSet(ref) && ref.Name == name
	}
}
