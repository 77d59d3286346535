// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"net"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// Namespace is the namespace of the sets of tests.
const Namespace = "default"

func listenOnLoopback(t testing.TB) net.Listener {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening on a loopback port: %v", err)
	}
	return listener
}

// Web returns a small valid set.
func Web(name string) *v1.StatefulSet {
	labels := map[string]string{"app": name}
	return &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace},
		Spec: v1.StatefulSetSpec{
			Replicas:    ptr.To[int32](3),
			ServiceName: "nginx",
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "nginx", Image: "nginx:1",
					VolumeMounts: []corev1.VolumeMount{{Name: "www", MountPath: "/usr/share/nginx/html"}},
				}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "www"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			}},
		},
	}
}

// Owning returns a small set with a UID.
func Owning(name string) *v1.StatefulSet {
	set := Web(name)
	set.UID = types.UID("uid-of-" + name)
	return set
}
