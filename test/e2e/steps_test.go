//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// TestLifeOfTheStepsExample updates the canary of the example, shows what deciding would lead
// to, takes the update back, tries it again, and lets it go on to all members.
func TestLifeOfTheStepsExample(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/steps.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	before := waitReady(t, ns, "db", 3)

	mark := pods.mark()
	kubectlApply(t, strings.Replace(string(content), "nginx-slim:0.24", "nginx-slim:0.25", 1), "-n", ns)
	waitReason(t, ns, v1.StatefulSetReady, v1.ReasonBaking, "step 1/1: 1 of 3 at db-")
	set := waitReason(t, ns, v1.StatefulSetReady, v1.ReasonWaitingForPromotion,
		"waiting for approval: kubectl sts rollout promote --step=1")
	pods.expect(t, mark, "deleted db-2", "added db-2")
	if got, want := plugin(t, "rollout", "status", "statefulset/db", "--watch=false", "-n", ns),
		"kubectl sts rollout promote --step=1\n"; !strings.HasSuffix(got, want) {
		t.Errorf("kubectl sts rollout status says %q, want it to end with %q", got, want)
	}
	for flag, want := range map[string]string{
		"--abort": "delete pod db-2 (rollback)", "--promote=1": "delete pod db-0 (update)", "--promote-all": "delete pod db-0 (update)"} {
		if got := plugin(t, "plan", "db", flag, "-n", ns); !strings.Contains(got, want) {
			t.Errorf("kubectl sts plan %s says\n%s\nwant %q in it", flag, got, want)
		}
	}

	mark = pods.mark()
	if got, want := plugin(t, "rollout", "abort", "statefulset/db", "-n", ns),
		fmt.Sprintf("statefulset.apps.statefulset.dev/db: update to %s aborted\n", set.Status.UpdateRevision); got != want {
		t.Errorf("kubectl sts says %q, want %q", got, want)
	}
	waitReason(t, ns, v1.StatefulSetReady, v1.ReasonRolledBack, "admin has aborted it")
	pods.expect(t, mark, "deleted db-2", "added db-2")
	if said, err := tryPlugin(t, "rollout", "status", "statefulset/db", "-n", ns); err == nil ||
		!strings.Contains(said, "was rolled back: admin has aborted it") {
		t.Errorf("kubectl sts rollout status says %q and ends with %v, want an error that says why the update was taken back", said, err)
	}
	for ordinal := range 3 {
		pod, err := suite.Host.CoreV1().Pods(ns).Get(t.Context(), fmt.Sprintf("db-%d", ordinal), metav1.GetOptions{})
		if err != nil {
			t.Fatalf("reading the pod: %v", err)
		}
		if got, want := pod.Labels["controller-revision-hash"], before.Status.CurrentRevision; got != want {
			t.Errorf("%s is at %s, want %s as before the update", pod.Name, got, want)
		}
	}
	if _, err := suite.Sets.AppsV1().StatefulSets(ns).Rollout(t.Context(), "db", &v1.StatefulSetRollout{Revision: set.Status.UpdateRevision,
		Action: v1.PromoteAllRollout}, metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "is already rolled back") {
		t.Errorf("promoting what is rolled back: got error %v, want it refused", err)
	}

	plugin(t, "rollout", "restart", "statefulset/db", "-n", ns)
	waitReason(t, ns, v1.StatefulSetReady, v1.ReasonWaitingForPromotion, "step 1/1: 1 of 3 at db-")
	plugin(t, "rollout", "promote", "statefulset/db", "-n", ns)
	if got, want := plugin(t, "rollout", "status", "statefulset/db", "--timeout=2m", "-n", ns),
		"statefulset rolling update complete 3 pods"; !strings.Contains(got, want) {
		t.Errorf("kubectl sts rollout status says %q, want %q in it", got, want)
	}
	waitUpdated(t, ns)
}
