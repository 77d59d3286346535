// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Namespace creates a namespace in which pods can be created, with a name that begins with prefix.
// It is deleted when the test has ended, without waiting for the end of the deletion.
func (c *Cluster) Namespace(t testing.TB, prefix string) string {
	t.Helper()
	return c.LabeledNamespace(t, prefix, nil)
}

// LabeledNamespace creates a namespace with labels.
func (c *Cluster) LabeledNamespace(t testing.TB, prefix string, labels map[string]string) string {
	t.Helper()
	made, err := c.Host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-", Labels: labels},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		_ = c.Host.CoreV1().Namespaces().Delete(ctx, made.Name, metav1.DeleteOptions{})
	})
	Eventually(t, "namespace "+made.Name+" has its service account", func(ctx context.Context) error {
		_, err := c.Host.CoreV1().ServiceAccounts(made.Name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return made.Name
}

// NewSet returns a set whose members have one container, and no claims.
func NewSet(name string, replicas int32) *v1.StatefulSet {
	labels := map[string]string{"app": name}
	return &v1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.StatefulSetSpec{
			Replicas: new(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/main:1"}}},
			},
		},
	}
}

// WithClaim adds a claim to each member of a set, which its container mounts, and returns the set.
func WithClaim(set *v1.StatefulSet) *v1.StatefulSet {
	set.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}}
	return set
}
