// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// The transforms keep of an object what the planner reads, what an event is
// resolved by, and what a write is conditioned on. Of objects that can be no set's they
// keep a stub.

func trimSet(object any) (any, error) {
	set, ok := object.(*v1.StatefulSet)
	if !ok {
		return object, nil
	}
	set.ManagedFields = nil
	return set, nil
}

func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	return &corev1.Pod{
		ObjectMeta: trimMeta(&pod.ObjectMeta),
		Spec:       corev1.PodSpec{Volumes: claimVolumes(pod.Spec.Volumes)},
		Status: corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			Conditions:            telling(pod.Status.Conditions),
			InitContainerStatuses: ailing(pod.Status.InitContainerStatuses),
			ContainerStatuses:     ailing(pod.Status.ContainerStatuses),
		},
	}, nil
}

func trimClaim(object any) (any, error) {
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return object, nil
	}
	if _, _, named := identity.ParsePodName(claim.Name); !named {
		return newStub(claim), nil
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: trimMeta(&claim.ObjectMeta),
		Spec:       corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: claim.Spec.Resources.Requests}},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: claim.Status.Phase},
	}, nil
}

func trimRevision(object any) (any, error) {
	revision, ok := object.(*appsv1.ControllerRevision)
	if !ok {
		return object, nil
	}
	if isElsewhere(revision) {
		return newStub(revision), nil
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: trimMeta(&revision.ObjectMeta),
		Data:       revision.Data,
		Revision:   revision.Revision,
	}, nil
}

func trimMeta(meta *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              meta.Name,
		Namespace:         meta.Namespace,
		UID:               meta.UID,
		ResourceVersion:   meta.ResourceVersion,
		CreationTimestamp: meta.CreationTimestamp,
		DeletionTimestamp: meta.DeletionTimestamp,
		Labels:            meta.Labels,
		OwnerReferences:   meta.OwnerReferences,
	}
}

func claimVolumes(volumes []corev1.Volume) []corev1.Volume {
	var kept []corev1.Volume
	for _, volume := range volumes {
		if volume.PersistentVolumeClaim != nil {
			kept = append(kept, volume)
		}
	}
	return kept
}

// telling are the conditions that say whether a pod is ready, and why it has no node.
// The time of the last probe says nothing new.
func telling(conditions []corev1.PodCondition) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, condition := range conditions {
		if condition.Type == corev1.PodReady || condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			condition.LastProbeTime = metav1.Time{}
			kept = append(kept, condition)
		}
	}
	return kept
}

// ailing are the containers that wait or have ended badly. Their messages are left
// out: they count seconds, and each would be a change.
func ailing(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, status := range statuses {
		short := corev1.ContainerStatus{Name: status.Name,
			State:                corev1.ContainerState{Terminated: shortEnd(status.State.Terminated)},
			LastTerminationState: corev1.ContainerState{Terminated: shortEnd(status.LastTerminationState.Terminated)}}
		if waiting := status.State.Waiting; waiting != nil {
			short.State.Waiting = &corev1.ContainerStateWaiting{Reason: waiting.Reason}
		}
		if short.State.Waiting != nil || short.State.Terminated != nil || short.LastTerminationState.Terminated != nil {
			kept = append(kept, short)
		}
	}
	return kept
}

func shortEnd(ended *corev1.ContainerStateTerminated) *corev1.ContainerStateTerminated {
	if ended == nil || ended.ExitCode == 0 {
		return nil
	}
	return &corev1.ContainerStateTerminated{ExitCode: ended.ExitCode, Reason: ended.Reason}
}
