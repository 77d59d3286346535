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

// TestLifeOfThePausedExample changes the template of the example, resumes the update, pauses it
// half way, loses members of both revisions, and goes on.
func TestLifeOfThePausedExample(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/paused.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	before := waitReady(t, ns, "db", 3)

	mark := pods.mark()
	kubectlApply(t, strings.Replace(string(content), "nginx-slim:0.24", "nginx-slim:0.25", 1), "-n", ns)
	waitPaused(t, ns, "3 members have yet to be updated")
	pods.expect(t, mark)
	partition := func(ordinal int) {
		kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p",
			fmt.Sprintf(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":%d}}}}`, ordinal))
	}
	partition(2) // the update waits there, however long it takes to pause it again
	if got, want := plugin(t, "rollout", "resume", "statefulset/db", "-n", ns), "statefulset.apps.statefulset.dev/db resumed\n"; got != want {
		t.Errorf("kubectl sts says %q, want %q", got, want)
	}
	pods.expect(t, mark, "deleted db-2", "added db-2")
	plugin(t, "rollout", "pause", "statefulset/db", "-n", ns)
	partition(0)
	set := waitPaused(t, ns, "2 members have yet to be updated")

	reached := set.Status.Rollout.Released
	if len(reached) != 1 || reached[0].End() != 2 {
		t.Fatalf("status.rollout.released is %v, want a range that ends with 2", reached)
	}
	for ordinal := range int32(3) {
		want := before.Status.CurrentRevision
		if ordinal >= reached[0].First {
			want = set.Status.UpdateRevision
		}
		name := fmt.Sprintf("db-%d", ordinal)
		mark = pods.mark()
		kubectl(t, "delete", "pod", name, "-n", ns)
		pods.expect(t, mark, "deleted "+name, "added "+name)
		waitPaused(t, ns, "3 of 3 members are available")
		pod, err := suite.Host.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatalf("reading the pod: %v", err)
		}
		if got := pod.Labels["controller-revision-hash"]; got != want {
			t.Errorf("%s came back at %s, want %s", name, got, want)
		}
	}
	plugin(t, "rollout", "resume", "statefulset/db", "-n", ns)
	waitUpdated(t, ns)
}

// waitPaused waits until the set says that its update is paused, in these words among others.
func waitPaused(t *testing.T, ns, words string) *v1.StatefulSet {
	t.Helper()
	return waitReason(t, ns, v1.StatefulSetReady, v1.ReasonPaused, words)
}
