// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/plan/action"
)

// endpoint has the requests for objects of one kind, past all caches. A nil function is not
// supported.
type endpoint struct {
	read   func(ctx context.Context, namespace, name string) (metav1.Object, error)
	list   func(ctx context.Context, namespace string, options metav1.ListOptions) (runtime.Object, error)
	create func(ctx context.Context, object metav1.Object) (metav1.Object, error)
	patch  func(ctx context.Context, namespace, name string, of types.PatchType, patch []byte, subresources ...string) (metav1.Object, error)
	remove func(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error
	evict  func(ctx context.Context, eviction *policyv1.Eviction) error
	// tryEviction asks whether a pod would be evicted, and evicts none.
	tryEviction func(ctx context.Context, eviction *policyv1.Eviction) error
}

// client is the part of a generated client for one kind and namespace that the controller uses.
type client[T, L any] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Create(ctx context.Context, object T, options metav1.CreateOptions) (T, error)
	Patch(ctx context.Context, name string, of types.PatchType, patch []byte, options metav1.PatchOptions, subresources ...string) (T, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// newEndpoint builds an endpoint from the clients of a kind.
func newEndpoint[T metav1.Object, L runtime.Object, C client[T, L]](clientOf func(namespace string) C) endpoint {
	return endpoint{
		read: func(ctx context.Context, namespace, name string) (metav1.Object, error) {
			return clientOf(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		list: func(ctx context.Context, namespace string, options metav1.ListOptions) (runtime.Object, error) {
			return clientOf(namespace).List(ctx, options)
		},
		create: func(ctx context.Context, object metav1.Object) (metav1.Object, error) {
			typed, ok := object.(T)
			if !ok {
				return nil, fmt.Errorf("a %T is not a %T", object, typed)
			}
			return clientOf(object.GetNamespace()).Create(ctx, typed, metav1.CreateOptions{})
		},
		patch: func(ctx context.Context, namespace, name string, of types.PatchType, patch []byte,
			subresources ...string) (metav1.Object, error) {
			return clientOf(namespace).Patch(ctx, name, of, patch, metav1.PatchOptions{}, subresources...)
		},
		remove: func(ctx context.Context, namespace, name string, options metav1.DeleteOptions) error {
			return clientOf(namespace).Delete(ctx, name, options)
		},
	}
}

// pages lists a namespace page by page, so that only one page is in memory at a time.
func (k *kind) pages(ctx context.Context, namespace string, use func(metav1.Object) error) error {
	options := metav1.ListOptions{LabelSelector: k.selector, Limit: k.page}
	for {
		page, err := k.list(ctx, namespace, options)
		if err != nil {
			return err
		}
		err = meta.EachListItem(page, func(object runtime.Object) error {
			about, err := meta.Accessor(object)
			if err != nil {
				return err
			}
			return use(about)
		})
		if err != nil {
			return err
		}
		about, err := meta.ListAccessor(page)
		if err != nil {
			return err
		}
		if options.Continue = about.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// readByList reads an object without permission to get it.
func (e endpoint) readByList(ctx context.Context, namespace, name string) (metav1.Object, error) {
	page, err := e.list(ctx, namespace, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()})
	if err != nil {
		return nil, err
	}
	var found metav1.Object
	err = meta.EachListItem(page, func(object runtime.Object) error {
		if about, err := meta.Accessor(object); err == nil && about.GetName() == name {
			found = about
		}
		return nil
	})
	if err == nil && found == nil {
		err = apierrors.NewNotFound(schema.GroupResource{}, name)
	}
	return found, err
}

// readLive reads an object past the caches.
func readLive[T metav1.Object](ctx context.Context, k *kind, namespace, name string) (T, error) {
	var none T
	object, err := k.read(ctx, namespace, name)
	if err != nil {
		return none, fmt.Errorf("reading %s %q: %w", k.noun, name, err)
	}
	typed, ok := object.(T)
	if !ok {
		return none, fmt.Errorf("reading %s %q: got a %T", k.noun, name, object)
	}
	return typed, nil
}

// add creates an object, and returns its resource version.
func (k *kind) add(ctx context.Context, object metav1.Object) (string, error) {
	return versionOf(k.create(ctx, object))
}

// change patches exactly the object that was decided on, and returns its new resource version.
func (k *kind) change(ctx context.Context, namespace string, object action.Target, change change) (string, error) {
	patchType, patch, err := change.patch(object)
	if err != nil {
		return "", err
	}
	return versionOf(k.patch(ctx, namespace, object.Name, patchType, patch, change.subresources()...))
}

// delete deletes exactly the object that was decided on.
func (k *kind) delete(ctx context.Context, namespace string, object action.Target) error {
	if k.remove == nil {
		panic(fmt.Sprintf("the controller never deletes %s", k.resource))
	}
	return k.remove(ctx, namespace, object.Name, deleteOptionsFor(object))
}

// evictPod evicts exactly the pod that was decided on.
func (k *kind) evictPod(ctx context.Context, namespace string, object action.Target) error {
	return k.evict(ctx, evictionOf(namespace, object))
}

// tryEvictPod asks whether exactly the pod that was decided on would be evicted.
func (k *kind) tryEvictPod(ctx context.Context, namespace string, object action.Target) error {
	trial := evictionOf(namespace, object)
	trial.DeleteOptions.DryRun = []string{metav1.DryRunAll}
	return k.tryEviction(ctx, trial)
}

func evictionOf(namespace string, object action.Target) *policyv1.Eviction {
	options := deleteOptionsFor(object)
	return &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: object.Name, Namespace: namespace}, DeleteOptions: &options}
}

// deleteOptionsFor are the options to delete an object only if it is the one that was decided on.
// The object keeps its own grace period, so nothing is removed before it has ended.
func deleteOptionsFor(object action.Target) metav1.DeleteOptions {
	return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion}}
}

func versionOf(object metav1.Object, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return object.GetResourceVersion(), nil
}

// change is what a patch changes. Nil fields stay unchanged.
type change struct {
	// A label or annotation with the value nil is removed.
	labels, annotations map[string]*string
	// owners replaces all owner references.
	owners []metav1.OwnerReference
	// addOwner and dropOwner do not change other owner references.
	addOwner  *metav1.OwnerReference
	dropOwner types.UID
	revision  *int64
	// images and sidecars are the images of containers and init containers of a pod, by name.
	images, sidecars map[string]string
	// resources and sidecarResources are the resources of containers and init containers of a pod,
	// by name. Nothing else can be changed together with them.
	resources, sidecarResources map[string]corev1.ResourceRequirements
	// size and attributesClass belong to a claim.
	size            *quantity.Quantity
	attributesClass string
	// conditions are set in the status of a pod. Nothing else can be changed together with them.
	conditions []corev1.PodCondition
}

// subresources returns the subresource that a patch goes to, if any.
func (c change) subresources() []string {
	switch {
	case c.conditions != nil:
		return []string{"status"}
	case len(c.resources)+len(c.sidecarResources) > 0:
		return []string{"resize"}
	default:
		return nil
	}
}

// present are values of which none is removed.
func present(values map[string]string) map[string]*string {
	if values == nil {
		return nil
	}
	all := make(map[string]*string, len(values))
	for key, value := range values {
		all[key] = &value
	}
	return all
}

// patch encodes the change, bound to one object at one resource version. A strategic merge patch
// merges owner references by UID and conditions by type; a plain merge patch replaces them.
func (c change) patch(object action.Target) (types.PatchType, []byte, error) {
	patchType := types.StrategicMergePatchType
	metadata := map[string]any{"uid": object.UID, "resourceVersion": object.ResourceVersion}
	if c.labels != nil {
		metadata["labels"] = c.labels
	}
	if c.annotations != nil {
		metadata["annotations"] = c.annotations
	}
	switch {
	case c.owners != nil:
		patchType = types.MergePatchType
		metadata["ownerReferences"] = c.owners
	case c.addOwner != nil:
		metadata["ownerReferences"] = []metav1.OwnerReference{*c.addOwner}
	case c.dropOwner != "":
		metadata["ownerReferences"] = []map[string]any{{"$patch": "delete", "uid": c.dropOwner}}
	}
	body := map[string]any{"metadata": metadata}
	if c.revision != nil {
		body["revision"] = *c.revision
	}
	if spec := c.spec(); len(spec) > 0 {
		body["spec"] = spec
	}
	if c.conditions != nil {
		body["status"] = map[string]any{"conditions": c.conditions}
	}
	patch, err := json.Marshal(body)
	if err != nil {
		return "", nil, fmt.Errorf("encoding patch: %w", err)
	}
	return patchType, patch, nil
}

// spec is the part of a change that concerns the spec.
func (c change) spec() map[string]any {
	spec := map[string]any{}
	if c.size != nil {
		spec["resources"] = map[string]any{"requests": map[string]any{"storage": c.size}}
	}
	if c.attributesClass != "" {
		spec["volumeAttributesClassName"] = c.attributesClass
	}
	if len(c.images) > 0 {
		spec["containers"] = imagesPatch(c.images)
	}
	if len(c.sidecars) > 0 {
		spec["initContainers"] = imagesPatch(c.sidecars)
	}
	if len(c.resources) > 0 {
		spec["containers"] = resourcesPatch(c.resources)
	}
	if len(c.sidecarResources) > 0 {
		spec["initContainers"] = resourcesPatch(c.sidecarResources)
	}
	return spec
}

// resourcesPatch sets resources of containers. The cluster merges them with the others by the names
// of the containers and of the resources.
func resourcesPatch(resources map[string]corev1.ResourceRequirements) (patch []map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		patch = append(patch, map[string]any{"name": name, "resources": resources[name]})
	}
	return patch
}

// imagesPatch sets images of containers. The cluster merges them with the others by their names.
func imagesPatch(images map[string]string) (patch []map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(images)) {
		patch = append(patch, map[string]string{"name": name, "image": images[name]})
	}
	return patch
}
