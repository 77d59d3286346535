// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package settest

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// Valid returns a valid set, decoded and with defaults.
func Valid() *v1.StatefulSet {
	labels := map[string]string{"app": "web"}
	set := &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault, Labels: map[string]string{"a": "b"}},
		Spec: v1.StatefulSetSpec{
			Replicas:    ptr.To[int32](3),
			ServiceName: "nginx",
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "prepare", Image: "busybox:1"}},
					Containers: []corev1.Container{{
						Name: "nginx", Image: "nginx:1",
						VolumeMounts: []corev1.VolumeMount{{Name: "www", MountPath: "/www"}, {Name: "tmp", MountPath: "/tmp"}},
					}},
					Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
				},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{ClaimTemplate("www")},
		},
	}
	v1.SetObjectDefaults_StatefulSet(set)
	return set
}

// ClaimTemplate is a claim template of 1 GiB.
func ClaimTemplate(name string) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

// Changed is a copy of Valid after some change.
func Changed(change func(*v1.StatefulSet)) *v1.StatefulSet {
	set := Valid()
	change(set)
	return set
}

// ManyClaims is a set with claim templates that differ in their size, or only in their name.
func ManyClaims(count int, differ bool) *v1.StatefulSet {
	return Changed(func(set *v1.StatefulSet) {
		set.Spec.VolumeClaimTemplates = nil
		for i := range count {
			template := ClaimTemplate(fmt.Sprintf("c%d", i))
			if differ {
				template.Spec.Resources.Requests[corev1.ResourceStorage] = *resource.NewQuantity(int64(i+1), resource.BinarySI)
			}
			set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, template)
		}
	})
}

// Causes are the causes in an error.
func Causes(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil {
		t.Fatalf("got %v, want an error with causes", err)
	}
	var texts []string
	for _, cause := range status.ErrStatus.Details.Causes {
		texts = append(texts, fmt.Sprintf("%s: %s", cause.Field, cause.Message))
	}
	return texts
}

// Spec is a change of the spec.
func Spec(change func(*v1.StatefulSetSpec)) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) { change(&set.Spec) }
}

// Pod is a change of the template's pod.
func Pod(change func(*corev1.PodSpec)) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) { change(&set.Spec.Template.Spec) }
}

// Claim is a change of the first claim template.
func Claim(change func(*corev1.PersistentVolumeClaim)) func(*v1.StatefulSet) {
	return func(set *v1.StatefulSet) { change(&set.Spec.VolumeClaimTemplates[0]) }
}
