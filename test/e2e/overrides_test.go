//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTheFirstMemberIsLarger creates the example, changes its override, renames and removes it.
func TestTheFirstMemberIsLarger(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/overrides.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)
	expectShape(t, ns, "db-0", "256Mi", "primary", "2Gi")
	expectShape(t, ns, "db-1", "64Mi", "replica", "1Gi")

	more := strings.Replace(string(content), "256Mi", "512Mi", 1)
	_, proposal, _ := strings.Cut(more, "---\n")
	said, err := planCommand(t, ns, proposal, "-f", "-")
	if want := "delete pod db-0 (override big): override big"; err != nil || !strings.Contains(said, want) || strings.Contains(said, "db-1") {
		t.Errorf("kubectl sts plan says %v, %s, want a line with %q, and nothing of db-1", err, said, want)
	}
	mark := pods.mark()
	kubectlApply(t, more, "-n", ns)
	pods.expect(t, mark, "deleted db-0", "added db-0")
	waitReady(t, ns, "db", 3)
	expectShape(t, ns, "db-0", "512Mi", "primary", "2Gi")

	playResizer(t, ns)
	mark = pods.mark()
	larger := strings.NewReplacer("name: big", "name: huge", "storage: 2Gi", "storage: 3Gi").Replace(more)
	kubectlApply(t, larger, "-n", ns)
	waitReady(t, ns, "db", 3)
	pods.expect(t, mark)
	expectShape(t, ns, "db-0", "512Mi", "primary", "3Gi")

	mark = pods.mark()
	kubectl(t, "patch", kind, "db", "-n", ns, "--type=json", "-p", `[{"op": "remove", "path": "/spec/overrides"}]`)
	pods.expect(t, mark, "deleted db-0", "added db-0")
	waitReady(t, ns, "db", 3)
	expectShape(t, ns, "db-0", "64Mi", "replica", "3Gi")
}

// expectShape compares what a pod has with what its override or its template says.
func expectShape(t *testing.T, ns, name, memory, role, storage string) {
	t.Helper()
	pod, err := suite.Host.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading pod %s: %v", name, err)
	}
	claim, err := suite.Host.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), "data-"+name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading claim data-%s: %v", name, err)
	}
	container := pod.Spec.Containers[0]
	got := []string{
		container.Resources.Requests.Memory().String(), valueOf(container.Env, "ROLE"), claim.Spec.Resources.Requests.Storage().String()}
	if want := []string{memory, role, storage}; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("pod %s has memory, role and storage %v, want %v", name, got, want)
	}
}

func valueOf(env []corev1.EnvVar, name string) string {
	for _, variable := range env {
		if variable.Name == name {
			return variable.Value
		}
	}
	return ""
}
