//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestRevisionsAreThoseOfTheBuiltInKind gives the same templates to a built-in set
// and to one of ours, in namespaces of their own, and compares what the two
// controllers record.
func TestRevisionsAreThoseOfTheBuiltInKind(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*corev1.PodTemplateSpec){
		"a template with nothing but an image": func(*corev1.PodTemplateSpec) {},
		"a template with probes, ports, resources and volumes": func(template *corev1.PodTemplateSpec) {
			main := &template.Spec.Containers[0]
			main.Image = "example.test/main"
			main.Ports = []corev1.ContainerPort{{ContainerPort: 80}}
			main.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}}
			main.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 90}}}
			main.Lifecycle = &corev1.Lifecycle{
				PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "a && b > c"}}}}
			main.Resources.Requests = corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("0.5"), corev1.ResourceMemory: resource.MustParse("0.1")}
			main.Env = []corev1.EnvVar{
				{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
			template.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "example.test/init:1"}}
			template.Spec.Volumes = []corev1.Volume{
				{Name: "empty"},
				{Name: "config", VolumeSource: corev1.VolumeSource{
					ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}},
				{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
				{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}}},
				{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}},
				}}}},
			}
		},
		"a template with a service account by its old name": func(template *corev1.PodTemplateSpec) {
			template.Spec.DeprecatedServiceAccount = "robot"
			template.Annotations = map[string]string{"note": "<&>"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs, ours := namespace(t), namespace(t)
			set := newSet("db", 0)
			set.Annotations = map[string]string{"kept": "in the revision"}
			change(&set.Spec.Template)
			create(t, ours, set)
			if _, err := suite.Host.AppsV1().StatefulSets(theirs).Create(t.Context(), asBuiltIn(t, set), metav1.CreateOptions{}); err != nil {
				t.Fatalf("creating the built-in set: %v", err)
			}
			got, want := onlyRevision(t, ours), onlyRevision(t, theirs)
			if got.Name != want.Name || string(got.Data.Raw) != string(want.Data.Raw) || got.Revision != want.Revision {
				t.Errorf("our revision is %s, %d:\n%s\nthe built-in one is %s, %d:\n%s", got.Name, got.Revision, got.Data.Raw, want.Name, want.Revision,
					want.Data.Raw)
			}
			if !maps.Equal(got.Labels, want.Labels) || !maps.Equal(got.Annotations, want.Annotations) {
				t.Errorf("our revision has labels %v and annotations %v, the built-in one %v and %v", got.Labels, got.Annotations, want.Labels,
					want.Annotations)
			}
		})
	}
}

func asBuiltIn(t *testing.T, set *v1.StatefulSet) *appsv1.StatefulSet {
	t.Helper()
	content, err := json.Marshal(set)
	if err != nil {
		t.Fatalf("encoding the set: %v", err)
	}
	builtIn := &appsv1.StatefulSet{}
	if err := json.Unmarshal(content, builtIn); err != nil {
		t.Fatalf("decoding the set as the built-in kind: %v", err)
	}
	return builtIn
}

func onlyRevision(t *testing.T, ns string) appsv1.ControllerRevision {
	t.Helper()
	var revisions []appsv1.ControllerRevision
	harness.Eventually(t, "a revision is recorded in "+ns, func(context.Context) error {
		if revisions = revisionsOf(t, ns); len(revisions) != 1 {
			return fmt.Errorf("there are %d", len(revisions))
		}
		return nil
	})
	return revisions[0]
}
