// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// mostKnown is the maximum number of Secrets that a claim names. The oldest ones are dropped. A set
// has far fewer at a time.
const mostKnown = 64

// Generates reports whether values are generated for the objects of the template.
func (o Object) Generates() bool { return len(o.Template().Generate) > 0 }

// GeneratedOf returns the names in v1.GeneratedAnnotation of an object: the keys of a Secret, or
// the Secrets that the member of a claim or a pod has used.
func GeneratedOf(object metav1.Object) []string {
	text := object.GetAnnotations()[v1.GeneratedAnnotation]
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// GeneratedText is the value of v1.GeneratedAnnotation for an object whose member also uses these
// Secrets.
func GeneratedText(object metav1.Object, used []string) string {
	all := slices.DeleteFunc(GeneratedOf(object), func(name string) bool { return slices.Contains(used, name) })
	all = append(all, used...)
	return strings.Join(all[max(0, len(all)-mostKnown):], ",")
}

// ClaimUsingSecrets returns a claim that records that its member uses these Secrets. It shares
// everything with the claim except its annotations.
func ClaimUsingSecrets(claim *corev1.PersistentVolumeClaim, secrets []string) *corev1.PersistentVolumeClaim {
	if len(secrets) == 0 {
		return claim
	}
	annotatedClaim := *claim
	annotatedClaim.Annotations = annotated(claim, secrets)
	return &annotatedClaim
}

// PodUsingSecrets returns a pod that records that its member uses these Secrets. It shares
// everything with the pod except its annotations.
func PodUsingSecrets(pod *corev1.Pod, secrets []string) *corev1.Pod {
	if len(secrets) == 0 {
		return pod
	}
	annotatedPod := *pod
	annotatedPod.Annotations = annotated(pod, secrets)
	return &annotatedPod
}

func annotated(object metav1.Object, secrets []string) map[string]string {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1.GeneratedAnnotation] = GeneratedText(object, secrets)
	return annotations
}
