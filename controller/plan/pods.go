// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// isFinished reports whether the pod has ended, successfully or not. Exit codes decide which of the
// two, not the cause of the end (an eviction may lead to either), so a member starts again after
// both.
func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

func isTerminating(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }

func isReady(pod *corev1.Pod) bool { return identity.IsReady(pod) }

func readyCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// availableAt is the time from which the pod counts as available. It is false if the pod is not
// ready, so that there is no such time yet.
func (f *facts) availableAt(pod *corev1.Pod) (time.Time, bool) {
	if !isReady(pod) {
		return time.Time{}, false
	}
	condition := readyCondition(pod)
	minReady := v1.Seconds(f.world.Set.Spec.MinReadySeconds)
	if minReady > 0 && condition.LastTransitionTime.IsZero() {
		return time.Time{}, false
	}
	return condition.LastTransitionTime.Add(minReady), true
}

// isAvailable reports whether the pod has been ready for long enough. A terminating pod may still
// be available; a pod whose containers are about to be restarted is not.
func (f *facts) isAvailable(pod *corev1.Pod) bool {
	at, ok := f.availableAt(pod)
	return ok && !isRestarting(pod) && (f.world.Set.Spec.MinReadySeconds == 0 || !at.After(f.world.Now))
}

func revisionOf(pod *corev1.Pod) string { return pod.Labels[identity.RevisionLabel] }

// nextAvailability is the time until a ready pod becomes available.
func (f *facts) nextAvailability() time.Duration {
	var next time.Duration
	for m := range f.all() {
		if m.pod == nil || isRestarting(m.pod) || f.isAvailable(m.pod) {
			continue
		}
		if at, ok := f.availableAt(m.pod); ok {
			if wait := at.Sub(f.world.Now); next == 0 || wait < next {
				next = wait
			}
		}
	}
	return next
}
