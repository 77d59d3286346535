// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// overrideWord describes the override with which a pod was created, or that it lacks. It is empty
// if the pod has no override and should have none.
func overrideWord(overrides *identity.Overrides, ordinal int, pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	made, due := pod.Annotations[v1.OverrideAnnotation], overrides.Hash(ordinal)
	switch {
	case made == "" && due == "":
		return ""
	case due == "":
		return ", earlier override"
	case made != due:
		return ", without override " + overrides.Of(ordinal).Name
	default:
		return ", override " + overrides.Of(ordinal).Name
	}
}
