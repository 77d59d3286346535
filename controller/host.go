// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"statefulset.dev/controller/plan"
)

// host is what the controller asks of the host cluster.
type host interface {
	// create creates a pod, a claim or a revision and returns its resource version.
	create(ctx context.Context, object metav1.Object) (string, error)
	// change patches exactly the object that was decided on and returns its new
	// resource version.
	change(ctx context.Context, kind resource, namespace string, object plan.Target, change change) (string, error)
	// remove deletes exactly the object that was decided on.
	remove(ctx context.Context, kind resource, namespace string, object plan.Target) error
	// pod reads a pod past the cache.
	pod(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	// revision reads a revision past the cache.
	revision(ctx context.Context, namespace, name string) (*appsv1.ControllerRevision, error)
}

// change is what a patch changes. Nil fields stay as they are.
type change struct {
	labels map[string]string
	// owners replaces all owner references.
	owners []metav1.OwnerReference
	// addOwner and dropOwner leave the other owner references as they are.
	addOwner  *metav1.OwnerReference
	dropOwner types.UID
	revision  *int64
}

// clientHost is the host behind a client.
type clientHost struct{ kubernetes.Interface }

func (h clientHost) create(ctx context.Context, object metav1.Object) (string, error) {
	switch object := object.(type) {
	case *corev1.Pod:
		return versionOf(h.CoreV1().Pods(object.Namespace).Create(ctx, object, metav1.CreateOptions{}))
	case *corev1.PersistentVolumeClaim:
		return versionOf(h.CoreV1().PersistentVolumeClaims(object.Namespace).Create(ctx, object, metav1.CreateOptions{}))
	case *appsv1.ControllerRevision:
		return versionOf(h.AppsV1().ControllerRevisions(object.Namespace).Create(ctx, object, metav1.CreateOptions{}))
	default:
		panic(fmt.Sprintf("no rule to create a %T", object))
	}
}

func (h clientHost) change(ctx context.Context, kind resource, namespace string, object plan.Target, change change) (string, error) {
	patchType, patch, err := change.patch(object)
	if err != nil {
		return "", err
	}
	switch kind {
	case podsResource:
		return versionOf(h.CoreV1().Pods(namespace).Patch(ctx, object.Name, patchType, patch, metav1.PatchOptions{}))
	case claimsResource:
		return versionOf(h.CoreV1().PersistentVolumeClaims(namespace).Patch(ctx, object.Name, patchType, patch, metav1.PatchOptions{}))
	case revisionsResource:
		return versionOf(h.AppsV1().ControllerRevisions(namespace).Patch(ctx, object.Name, patchType, patch, metav1.PatchOptions{}))
	default:
		panic(fmt.Sprintf("no rule to change %s", kind))
	}
}

func (h clientHost) remove(ctx context.Context, kind resource, namespace string, object plan.Target) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion}}
	switch kind {
	case podsResource:
		return h.CoreV1().Pods(namespace).Delete(ctx, object.Name, options)
	case revisionsResource:
		return h.AppsV1().ControllerRevisions(namespace).Delete(ctx, object.Name, options)
	default:
		panic(fmt.Sprintf("no rule to remove %s", kind))
	}
}

func (h clientHost) pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod, err := h.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading pod %q: %w", name, err)
	}
	return pod, nil
}

func (h clientHost) revision(ctx context.Context, namespace, name string) (*appsv1.ControllerRevision, error) {
	revision, err := h.AppsV1().ControllerRevisions(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading revision %q: %w", name, err)
	}
	return revision, nil
}

func versionOf[T metav1.Object](object T, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return object.GetResourceVersion(), nil
}

// patch is the change as the host understands it, bound to one object at one
// resource version. A strategic merge patch merges owner references by UID, a
// plain merge patch replaces them.
func (c change) patch(object plan.Target) (types.PatchType, []byte, error) {
	patchType := types.StrategicMergePatchType
	metadata := map[string]any{"uid": object.UID, "resourceVersion": object.ResourceVersion}
	if c.labels != nil {
		metadata["labels"] = c.labels
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
	patch, err := json.Marshal(body)
	if err != nil {
		return "", nil, fmt.Errorf("encoding patch: %w", err)
	}
	return patchType, patch, nil
}
