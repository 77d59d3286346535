// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// diagnose describes why the pod of a member is not ready, and since when. For a pod without a node
// it also names the claim that has no volume, because the scheduler's message does not.
func (f *facts) diagnose(m member) string {
	pod := m.pod
	if unscheduled := withoutNode(pod); unscheduled != nil {
		return "unschedulable" + since(unscheduled.LastTransitionTime) + ": " + words.SanitizeText(unscheduled.Message) + f.unboundClaim(m)
	}
	what := symptom(pod)
	switch {
	case pod.Status.Phase == corev1.PodUnknown:
		return unknown(pod)
	case what != "":
	case pod.Status.Phase == corev1.PodRunning:
		what = "running but not ready"
	default:
		what = "starting"
	}
	return what + since(brokenSince(pod))
}

// unknown says that the node of a pod does not report its state. The conditions of the pod are
// older than that, so they do not show since when.
func unknown(pod *corev1.Pod) string {
	node, reason := "its node", ""
	if pod.Spec.NodeName != "" {
		node = "node " + pod.Spec.NodeName
	}
	if pod.Status.Reason != "" {
		reason = " (" + words.Sanitize(pod.Status.Reason) + ")"
	}
	return node + " does not report the state of the pod" + reason
}

// unboundClaim names the first claim of a member that has no volume yet, and its StorageClass.
func (f *facts) unboundClaim(m member) string {
	for i := range f.world.Set.Spec.VolumeClaimTemplates {
		claim := f.claimOf(m, i)
		if claim == nil || claim.Status.Phase != corev1.ClaimPending {
			continue
		}
		class := claim.Spec.StorageClassName
		switch {
		case class == nil:
			return fmt.Sprintf("; claim %s has no volume: it names no StorageClass, and the cluster has not assigned a default one", claim.Name)
		case *class == "":
			return fmt.Sprintf("; claim %s has no volume: its StorageClass is %q, so it waits for a PersistentVolume that is created by hand",
				claim.Name, *class)
		default:
			return fmt.Sprintf("; claim %s of StorageClass %q has no volume", claim.Name, words.Sanitize(*class))
		}
	}
	return ""
}

// CannotStart reports whether something is known to keep a pod from becoming ready.
func CannotStart(pod *corev1.Pod) bool {
	return !isReady(pod) && (pod.Status.Phase == corev1.PodUnknown || withoutNode(pod) != nil || symptom(pod) != "")
}

// IsPodReady reports whether a pod runs and is ready.
func IsPodReady(pod *corev1.Pod) bool { return isReady(pod) }

func withoutNode(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c
		}
	}
	return nil
}

// symptom names the first container that has a problem, and the problem; empty if none has.
func symptom(pod *corev1.Pod) string {
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if problem := containerProblem(container); problem != "" {
			return fmt.Sprintf("container %s: %s", words.Sanitize(container.Name), problem)
		}
	}
	return ""
}

// brokenSince is since when a pod is not ready although it should be, as far as that is known.
// While the controller had the pod out of service, it was not supposed to be ready.
func brokenSince(pod *corev1.Pod) metav1.Time {
	broken := notReadySince(pod)
	if c := conditionOf(pod, v1.PodInService); c != nil && isDrainable(pod) && broken.Before(&c.LastTransitionTime) {
		return c.LastTransitionTime
	}
	return broken
}

// notReadySince is since when a pod that is not ready has been in that state, as far as that is
// known.
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
	return " since " + words.Timestamp(begun.Time)
}

// containerProblem describes the problem of a container, empty if it has none. If the kubelet
// alternates between two reasons while nothing changes, both are reported under one name.
func containerProblem(container corev1.ContainerStatus) string {
	if waiting := container.State.Waiting; waiting != nil {
		switch waiting.Reason {
		case "", "ContainerCreating", "PodInitializing":
		case "ErrImagePull":
			return "ImagePullBackOff"
		default:
			return words.Sanitize(waiting.Reason)
		}
	}
	for _, ended := range []*corev1.ContainerStateTerminated{container.State.Terminated, container.LastTerminationState.Terminated} {
		if ended != nil && ended.ExitCode != 0 {
			return fmt.Sprintf("ended with exit code %d (%s)", ended.ExitCode, words.Sanitize(ended.Reason))
		}
	}
	return ""
}
