//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// kubelet plays the kubelet of one side. What it writes is meant for one pod, and
// never for a successor of the same name.
type kubelet struct {
	*side

	mu sync.Mutex
	// starts and ends say whether pods become ready, and whether deletions are
	// finished, without a command.
	starts, ends bool
	// seen are the UIDs, with what was done to them, that need not be done again.
	seen map[string]bool
}

// run does what is to be done without a command until the context ends.
func (k *kubelet) run(ctx context.Context) {
	_ = k.until(ctx, func() bool {
		for _, pod := range k.all(pods) {
			k.care(ctx, pod)
		}
		return false
	})
}

func (k *kubelet) care(ctx context.Context, pod *unstructured.Unstructured) {
	k.mu.Lock()
	starts, ends := k.starts, k.ends
	k.mu.Unlock()
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	scheduled, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	switch {
	case ends && pod.GetDeletionTimestamp() != nil && k.once("end", pod):
		k.warn(k.end(ctx, pod))
	case starts && pod.GetDeletionTimestamp() == nil && phase == string(corev1.PodPending) && scheduled != "" && k.once("start", pod):
		k.warn(k.setStatus(ctx, pod, readyStatus(corev1.PodRunning, gatesOf(pod), time.Now())))
	case starts && pod.GetDeletionTimestamp() == nil && phase == string(corev1.PodRunning) && isGated(pod) &&
		conditionOf(pod, corev1.PodReady) != gatesOf(pod):
		k.warn(k.setStatus(ctx, pod, readyStatus(corev1.PodRunning, gatesOf(pod), time.Now())))
	}
}

func isGated(pod *unstructured.Unstructured) bool {
	gates, _, _ := unstructured.NestedSlice(pod.Object, "spec", "readinessGates")
	return len(gates) > 0
}

// gatesOf is what the readiness gates of a pod let it be.
func gatesOf(pod *unstructured.Unstructured) corev1.ConditionStatus {
	gates, _, _ := unstructured.NestedSlice(pod.Object, "spec", "readinessGates")
	for _, gate := range gates {
		kind, _ := gate.(map[string]any)["conditionType"].(string)
		if conditionOf(pod, corev1.PodConditionType(kind)) != corev1.ConditionTrue {
			return corev1.ConditionFalse
		}
	}
	return corev1.ConditionTrue
}

func conditionOf(pod *unstructured.Unstructured, kind corev1.PodConditionType) corev1.ConditionStatus {
	conditions, _, _ := unstructured.NestedSlice(pod.Object, "status", "conditions")
	for _, c := range conditions {
		if is, _ := c.(map[string]any); is["type"] == string(kind) {
			status, _ := is["status"].(string)
			return corev1.ConditionStatus(status)
		}
	}
	return corev1.ConditionUnknown
}

func (k *kubelet) once(verb string, pod *unstructured.Unstructured) bool {
	key := verb + string(pod.GetUID())
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen[key] {
		return false
	}
	k.seen[key] = true
	return true
}

// warn makes an error that the scenario cannot account for show up in comparisons.
// A pod that is gone, or is another by now, needs no care.
func (k *kubelet) warn(err error) {
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		k.warnings.HandleWarningHeaderWithContext(context.Background(), 299, "", fmt.Sprintf("kubelet: %v", err))
	}
}

// obey changes what is done without a command, and looks at all pods again.
func (k *kubelet) obey(starts, ends bool) {
	k.mu.Lock()
	k.starts, k.ends = starts, ends
	k.mu.Unlock()
	k.wake()
}

func (k *kubelet) end(ctx context.Context, pod *unstructured.Unstructured) error {
	resource, err := k.resource(pods)
	if err != nil {
		return err
	}
	return k.client.Resource(resource).Namespace(k.namespace).Delete(ctx, pod.GetName(), metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.GetUID())),
	})
}

// setStatus leaves conditions alone that others set.
func (k *kubelet) setStatus(ctx context.Context, pod *unstructured.Unstructured, status map[string]any) error {
	resource, err := k.resource(pods)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.GetUID()}, "status": status})
	if err != nil {
		return err
	}
	_, err = k.client.Resource(resource).Namespace(k.namespace).Patch(ctx, pod.GetName(), types.StrategicMergePatchType, patch,
		metav1.PatchOptions{}, "status")
	return err
}

// readyStatus is the status of a pod in a phase, ready or not since a time.
func readyStatus(phase corev1.PodPhase, ready corev1.ConditionStatus, since time.Time) map[string]any {
	return map[string]any{"phase": phase, "reason": nil, "conditions": []corev1.PodCondition{
		{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(since)},
	}}
}
