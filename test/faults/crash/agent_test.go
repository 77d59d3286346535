//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"statefulset.dev/test/faults/internal/scenarios"
)

// node is where the pods of the suite run.
const node = "faults"

// agent plays the node for one namespace. What it writes is meant for one pod, and
// never for a successor of the same name.
type agent struct {
	*history

	host      kubernetes.Interface
	namespace string
	// fail tells of errors that a real node would not have.
	fail func(format string, args ...any)
	done map[string]bool
}

// run looks after the pods until the context ends.
func (a *agent) run(ctx context.Context) {
	for ctx.Err() == nil {
		woken := a.wait()
		for _, pod := range a.observed().Pods {
			a.care(ctx, &pod)
		}
		select {
		case <-woken:
		case <-ctx.Done():
		}
	}
}

func (a *agent) care(ctx context.Context, pod *corev1.Pod) {
	switch {
	case pod.DeletionTimestamp != nil:
		a.once(ctx, "end", pod, a.end)
	case pod.Status.Phase == corev1.PodPending:
		a.once(ctx, "start", pod, func(ctx context.Context, pod *corev1.Pod) error {
			ready := corev1.ConditionTrue
			if imageOf(&pod.Spec) == scenarios.Unlucky {
				ready = corev1.ConditionFalse
			}
			return a.setStatus(ctx, pod, corev1.PodRunning, ready, "")
		})
	default:
		if container, ready, needed := scenarios.RestartOf(pod); needed {
			a.once(ctx, fmt.Sprintf("restart %d", pod.Generation), pod, func(ctx context.Context, pod *corev1.Pod) error {
				return a.patchStatus(ctx, pod,
					map[string]any{"containerStatuses": []corev1.ContainerStatus{container}, "conditions": []corev1.PodCondition{readyCondition(ready)}})
			})
		}
	}
}

// once does something to a pod that need not be done again. A pod that is gone, or is
// another by now, needs no care.
func (a *agent) once(ctx context.Context, what string, pod *corev1.Pod, do func(context.Context, *corev1.Pod) error) {
	key := what + string(pod.UID)
	if a.done[key] {
		return
	}
	err := do(ctx, pod)
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		a.done[key] = true
	} else if ctx.Err() == nil {
		a.fail("the node agent, pod %s/%s: %v", pod.Namespace, pod.Name, err)
	}
}

func (a *agent) end(ctx context.Context, pod *corev1.Pod) error {
	return a.host.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

func (a *agent) setStatus(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, ready corev1.ConditionStatus, reason string) error {
	return a.patchStatus(ctx, pod,
		map[string]any{"phase": phase, "reason": reason, "conditions": []corev1.PodCondition{readyCondition(ready)}})
}

func readyCondition(status corev1.ConditionStatus) corev1.PodCondition {
	return corev1.PodCondition{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(time.Now())}
}

func (a *agent) patchStatus(ctx context.Context, pod *corev1.Pod, status map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = a.host.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
