//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestLifeOfTheExampleThatIsDrained gives the example another image. Each member is out of service
// before its container is restarted, in the pod that is there, and one that is not to be restarted any more
// comes back into service.
func TestLifeOfTheExampleThatIsDrained(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/in-place-drain.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 3)
	expectInService(t, ns, "db-0", corev1.ConditionTrue, anyReason)
	uids := podUIDs(t, ns)

	long := strings.Replace(string(content), "drainSeconds: 10", "drainSeconds: 3600", 1)
	newer := func(text string) string { return strings.Replace(text, "nginx-slim:0.24", "nginx-slim:0.25", 1) }
	_, proposal, _ := strings.Cut(newer(long), "---\n")
	said, err := planCommand(t, ns, proposal, "-f", "-")
	if want := "set condition apps.statefulset.dev/in-service=False (Draining) of pod db-2"; err != nil || !strings.Contains(said, want) {
		t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, want)
	}
	kubectlApply(t, newer(long), "-n", ns)
	expectInService(t, ns, "db-2", corev1.ConditionFalse, v1.ReasonDraining)
	kubectlApply(t, long, "-n", ns)
	expectInService(t, ns, "db-2", corev1.ConditionTrue, v1.ReasonInService)
	expectInPlace(t, ns, uids, "registry.k8s.io/nginx-slim:0.24", "")

	playContainers(t, ns)
	kubectlApply(t, strings.Replace(newer(string(content)), "drainSeconds: 10", "drainSeconds: 2", 1), "-n", ns)
	expectInService(t, ns, "db-2", corev1.ConditionFalse, v1.ReasonDraining)
	waitReady(t, ns, "db", 3)
	expectInPlace(t, ns, uids, "registry.k8s.io/nginx-slim:0.25", "")
	for _, name := range []string{"db-0", "db-1", "db-2"} {
		expectInService(t, ns, name, corev1.ConditionTrue, anyReason)
	}
	expectEvent(t, ns, v1.ReasonMemberUpdatedInPlace, `pod "db-0"`)
}

// anyReason is for pods that the simulated node may have put into service itself, as it does with all
// readiness gates when it makes a pod ready.
const anyReason = ""

// expectInService waits until a pod is in service, or out of it.
func expectInService(t *testing.T, ns, name string, want corev1.ConditionStatus, reason string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s is in service: %s", name, want), func(ctx context.Context) error {
		pod, err := suite.Host.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == v1.PodInService })
		if at < 0 || pod.Status.Conditions[at].Status != want || reason != anyReason && pod.Status.Conditions[at].Reason != reason {
			return fmt.Errorf("its conditions are %v, want %s with reason %s", pod.Status.Conditions, want, reason)
		}
		return nil
	})
}
