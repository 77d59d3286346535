//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestMembersKnowWhoTheyAre creates the example, looks at what its members get, adds a member,
// which the others are told without a restart, and undoes an update of spec.identity.
func TestMembersKnowWhoTheyAre(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/identity.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "web", 3)
	expectParameters(t, ns, 0, "64Mi", "silver")
	expectParameters(t, ns, 2, "32Mi", "gold")
	expectReplicas(t, ns, "3", 0, 1, 2)

	mark := pods.mark()
	kubectl(t, "scale", kind+"/web", "-n", ns, "--replicas=4")
	waitReady(t, ns, "web", 4)
	expectReplicas(t, ns, "4", 0, 1, 2, 3)
	pods.expect(t, mark, "added web-3")

	kubectl(t, "patch", kind, "web", "-n", ns, "--type=merge", "-p", `{"spec":{"identity":{"values":{"TIER":"bronze"}}}}`)
	waitReady(t, ns, "web", 4)
	expectParameters(t, ns, 0, "64Mi", "bronze")
	plugin(t, "rollout", "undo", kind+"/web", "-n", ns)
	waitReady(t, ns, "web", 4)
	expectParameters(t, ns, 0, "64Mi", "silver")

	wrong := `[{"op":"replace","path":"/spec/identity/transforms/0/expression","value":"8000 + ORDINALS"}]`
	if said, err := tryPlugin(t, "patch", kind, "web", "-n", ns, "--type=json", "-p", wrong); err == nil || !strings.Contains(said,
		`spec.identity.transforms[0].expression: Invalid value: "8000 + ORDINALS": 1:8: undeclared reference to 'ORDINALS'`) {
		t.Errorf("a wrong expression gets %v, %s, want it refused with its place", err, said)
	}
}

// expectParameters compares what a member has with what its identity makes of the template.
func expectParameters(t *testing.T, ns string, ordinal int, memory, tier string) {
	t.Helper()
	name := fmt.Sprintf("web-%d", ordinal)
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
		fmt.Sprint(container.Ports[0].ContainerPort), container.Resources.Requests.Memory().String(), pod.Annotations["example.com/member"],
		claim.Annotations["example.com/member"],
		container.ReadinessProbe.HTTPGet.HTTPHeaders[0].Value, variables(container.Env), variables(pod.Spec.InitContainers[0].Env),
	}
	want := []string{
		fmt.Sprint(8000 + ordinal), memory, name + " of web", name, name,
		fmt.Sprintf("IDENTITY=%s DNS_NAME=%s.web.%s.svc ORDINAL=%d REPLICAS=metadata.annotations['apps.statefulset.dev/replicas'] TIER=%s", name,
			name, ns, ordinal, tier),
		fmt.Sprintf("IDENTITY=%s ORDINAL=%d", name, ordinal),
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("member %d has\n%s\nwant\n%s", ordinal, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func variables(env []corev1.EnvVar) string {
	var all []string
	for _, v := range env {
		value := v.Value
		if v.ValueFrom != nil {
			value = v.ValueFrom.FieldRef.FieldPath
		}
		all = append(all, v.Name+"="+value)
	}
	return strings.Join(all, " ")
}

// expectReplicas waits for members to be told how many there are.
func expectReplicas(t *testing.T, ns, want string, ordinals ...int) {
	t.Helper()
	harness.Eventually(t, "members are told that there are "+want, func(ctx context.Context) error {
		for _, ordinal := range ordinals {
			pod, err := suite.Host.CoreV1().Pods(ns).Get(ctx, fmt.Sprintf("web-%d", ordinal), metav1.GetOptions{})
			if err != nil {
				return err
			}
			if got := pod.Annotations[v1.ReplicasAnnotation]; got != want {
				return fmt.Errorf("member %d is told %q, want %q", ordinal, got, want)
			}
		}
		return nil
	})
}
