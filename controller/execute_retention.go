// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// markObject writes an annotation that concerns only the set, so there is no event.
func (e *execution) markObject(ctx context.Context, act action.MarkObject) error {
	return e.changeObject(ctx, "annotations of ", act.Kind, act.At,
		change{annotations: map[string]*string{v1.RetiredAtAnnotation: act.Note()}})
}

// setObjectOwners emits no event either.
func (e *execution) setObjectOwners(ctx context.Context, act action.SetObjectOwners) error {
	return e.changeObject(ctx, "owners of ", act.Kind, act.At,
		change{owners: ownerList(act.Owners), annotations: map[string]*string{v1.ObjectInputsAnnotation: &act.Digest}})
}

// changeObject changes part of the metadata of an object. It sends a plain merge patch, because not
// all kinds support other patches. It remembers the answer, so that a sync does not take it for a
// change by another client.
func (e *execution) changeObject(ctx context.Context, part string, kind schema.GroupVersionKind, at action.Target, change change) error {
	what := subject{part: part, kind: kind.Kind, name: at.Name}
	place, err := e.placeOf(kind)
	if err != nil {
		return err
	}
	_, patch, err := change.patch(at)
	if err != nil {
		return err
	}
	return e.do(ctx, update, what, func(ctx context.Context) error {
		options := metav1.PatchOptions{FieldManager: identity.ObjectManager}
		patched, err := place.Metadata.Patch(ctx, at.Name, types.MergePatchType, patch, options)
		if err != nil {
			return err //nolint:wrapcheck // do says what was tried
		}
		e.objectsMemory().Patched(kind.GroupKind(), patched)
		return nil
	})
}

// deleteObject deletes an object of a removed member or template. As for claims, neither the caches
// nor the preconditions suffice. The store and the cluster must confirm now that the set still
// requests the deletion, and that no pod exists that may use the object.
func (e *execution) deleteObject(ctx context.Context, act action.DeleteObject) error {
	what := subject{kind: act.Kind.Kind, name: act.At.Name}
	place, err := e.placeOf(act.Kind)
	if err != nil {
		return err
	}
	if err := e.confirmUnused(ctx, act); err != nil {
		return err
	}
	if err := e.confirmDue(act.Due); err != nil {
		return err
	}
	err = e.do(ctx, deletion, what, func(ctx context.Context) error {
		exactly := metav1.Preconditions{UID: &act.At.UID, ResourceVersion: &act.At.ResourceVersion}
		err := place.Metadata.Delete(ctx, act.At.Name,
			metav1.DeleteOptions{Preconditions: &exactly, PropagationPolicy: new(metav1.DeletePropagationBackground)})
		if err != nil {
			return err //nolint:wrapcheck // do says what was tried
		}
		e.objectsMemory().Deleted(act.Kind.GroupKind(), act.At.UID)
		return nil
	})
	if err == nil {
		e.recordSuccess(deletion, what)
	}
	return err
}

// confirmUnused verifies that the set has not changed, and that no pod may use an object.
func (e *execution) confirmUnused(ctx context.Context, act action.DeleteObject) error {
	if act.Unused == "" {
		return e.confirmRemoved(ctx, act.Ordinal)
	}
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	if err := e.confirmUnchanged(ctx); err != nil {
		return err
	}
	pods, err := e.podsThatMayUse(ctx, act)
	if err != nil {
		return fmt.Errorf("reading pods before deleting an object that they may use: %w", err)
	}
	for i := range pods {
		if act.MayBeUsedBy(&pods[i]) {
			return &staleRead{fmt.Errorf("pod %s exists", pods[i].Name)}
		}
	}
	return nil
}

// podsThatMayUse returns all pods that the set selects, or for an object of a member only its pod.
func (e *execution) podsThatMayUse(ctx context.Context, act action.DeleteObject) ([]corev1.Pod, error) {
	if act.Ordinal >= 0 {
		pod, err := e.podOf(ctx, act.Ordinal)
		if pod == nil || err != nil {
			return nil, err
		}
		return []corev1.Pod{*pod}, nil
	}
	list, err := hostread.ReadWithRetry(ctx, e.term.config.Clock, func(ctx context.Context) (*corev1.PodList, error) {
		return e.term.config.Host.CoreV1().Pods(e.set.Namespace).List(ctx,
			metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(e.set.Spec.Selector)})
	})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
