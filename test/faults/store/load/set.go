// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/store/history"
)

// newSet returns a set without members, with the content of a write.
func newSet(namespace, name, color, write string) *v1.StatefulSet {
	app := map[string]string{"app": name}
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace,
			Labels:      map[string]string{history.ColorLabel: color},
			Annotations: map[string]string{history.WriteAnnotation: write},
		},
		Spec: v1.StatefulSetSpec{
			Replicas: new(int32),
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/main:1"}}},
			},
		},
	}
}
