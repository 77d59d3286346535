// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// overrideWord says with which override a pod was created, empty if with none, and as it is to be.
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
