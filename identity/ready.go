// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import corev1 "k8s.io/api/core/v1"

// IsReady reports whether a pod counts in readyReplicas: it runs, and its condition Ready is True.
// The condition alone is not enough: a pod keeps it when its node is lost, and its phase becomes
// Unknown.
func IsReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return pod.Status.Phase == corev1.PodRunning && c.Status == corev1.ConditionTrue
		}
	}
	return false
}
