// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// diagnose says why a pod that is not ready is not, and since when.
func diagnose(pod *corev1.Pod) string {
	if unscheduled := withoutNode(pod); unscheduled != nil {
		return "unschedulable" + since(unscheduled.LastTransitionTime) + ": " + foreignText(unscheduled.Message)
	}
	what := symptom(pod)
	switch {
	case what != "":
	case pod.Status.Phase == corev1.PodRunning:
		what = "running, and not ready"
	default:
		what = "starting"
	}
	return what + since(brokenSince(pod))
}

// CannotStart reports whether something is known to keep a pod from becoming ready.
func CannotStart(pod *corev1.Pod) bool {
	return !isReady(pod) && (withoutNode(pod) != nil || symptom(pod) != "")
}

// IsReady reports whether a pod runs and is ready.
func IsReady(pod *corev1.Pod) bool { return isReady(pod) }

func withoutNode(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c
		}
	}
	return nil
}

// symptom names the first container with something wrong, and what; empty if none has.
func symptom(pod *corev1.Pod) string {
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if ailment := ailment(container); ailment != "" {
			return fmt.Sprintf("container %s: %s", foreignWord(container.Name), ailment)
		}
	}
	return ""
}

// brokenSince is since when a pod that is not ready is to be so, and is not, as far as that is
// known. As long as it was out of service by our hand, it was not to be.
func brokenSince(pod *corev1.Pod) metav1.Time {
	broken := notReadySince(pod)
	if c := conditionOf(pod, v1.PodInService); c != nil && isDrainable(pod) && broken.Before(&c.LastTransitionTime) {
		return c.LastTransitionTime
	}
	return broken
}

// notReadySince is since when a pod that is not ready is not, as far as that is known.
func notReadySince(pod *corev1.Pod) metav1.Time {
	if ready := readyCondition(pod); ready != nil && !ready.LastTransitionTime.IsZero() {
		return ready.LastTransitionTime
	}
	return pod.CreationTimestamp
}

func since(begun metav1.Time) string {
	if begun.IsZero() {
		return ""
	}
	return " since " + clock(begun.Time)
}

// ailment says what is wrong with a container, empty if nothing is. What the kubelet
// alternates between while nothing changes is called by one name.
func ailment(container corev1.ContainerStatus) string {
	if waiting := container.State.Waiting; waiting != nil {
		switch waiting.Reason {
		case "", "ContainerCreating", "PodInitializing":
		case "ErrImagePull":
			return "ImagePullBackOff"
		default:
			return foreignWord(waiting.Reason)
		}
	}
	for _, ended := range []*corev1.ContainerStateTerminated{container.State.Terminated, container.LastTerminationState.Terminated} {
		if ended != nil && ended.ExitCode != 0 {
			return fmt.Sprintf("ended with exit code %d (%s)", ended.ExitCode, foreignWord(ended.Reason))
		}
	}
	return ""
}
