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

// mostKnown is how many Secrets a claim names. The ones that it was given first are forgotten first;
// a set describes far fewer at a time.
const mostKnown = 64

// Generates reports whether texts are drawn for the objects of the template.
func (o Object) Generates() bool { return len(o.Template().Generate) > 0 }

// GeneratedOf are what an object says in v1.GeneratedAnnotation: keys of a Secret, or the Secrets that a
// claim or a pod was given.
func GeneratedOf(object metav1.Object) []string {
	text := object.GetAnnotations()[v1.GeneratedAnnotation]
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// GeneratedText is what a claim or a pod says that has been given Secrets besides those that it names.
func GeneratedText(object metav1.Object, given []string) string {
	all := slices.DeleteFunc(GeneratedOf(object), func(name string) bool { return slices.Contains(given, name) })
	all = append(all, given...)
	return strings.Join(all[max(0, len(all)-mostKnown):], ",")
}

// ClaimGiven is a claim whose member has been given Secrets. It shares with the claim all but its
// annotations.
func ClaimGiven(claim *corev1.PersistentVolumeClaim, secrets []string) *corev1.PersistentVolumeClaim {
	if len(secrets) == 0 {
		return claim
	}
	given := *claim
	given.Annotations = annotated(claim, secrets)
	return &given
}

// PodGiven is a pod whose member has been given Secrets. It shares with the pod all but its annotations.
func PodGiven(pod *corev1.Pod, secrets []string) *corev1.Pod {
	if len(secrets) == 0 {
		return pod
	}
	given := *pod
	given.Annotations = annotated(pod, secrets)
	return &given
}

func annotated(object metav1.Object, secrets []string) map[string]string {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1.GeneratedAnnotation] = GeneratedText(object, secrets)
	return annotations
}
