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

	"statefulset.dev/test/harness"
)

// TestLifeOfTheExampleWithARate creates the example with members that no node takes, corrects the
// template, and scales the set down.
func TestLifeOfTheExampleWithARate(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/rate.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	// With a mistake in it, two members are created, and the others wait for them.
	kubectlApply(t, strings.Replace(string(content), "      containers:", "      nodeSelector: {disk: none}\n      containers:", 1), "-n", ns)
	pods.expect(t, 0, "added db-0", "added db-1")
	awaitUnschedulable(t, ns, "db-0")
	awaitUnschedulable(t, ns, "db-1")
	pods.expect(t, 0, "added db-0", "added db-1")

	kubectl(t, "patch", kind, "db", "-n", ns, "--type=merge", "-p", replace)
	waitReady(t, ns, "db", 5)

	said, err := planCommand(t, ns,
		strings.Replace(string(content[strings.Index(string(content), "---\n")+4:]), "replicas: 5", "replicas: 1", 1), "-f", "-")
	if want := "pod db-2 waits for other surplus pods to terminate"; err != nil || !strings.Contains(said, want) {
		t.Errorf("kubectl sts plan says %v, %s, want a line with %q", err, said, want)
	}
	mark := pods.mark()
	kubectl(t, "scale", kind, "db", "--replicas=1", "-n", ns)
	harness.Eventually(t, "four members are gone", func(context.Context) error {
		if got := pods.since(mark); len(got) < 4 {
			return fmt.Errorf("so far %v", got)
		}
		return nil
	})
	if got := pods.since(mark); len(got) != 4 || got[2] != "deleted db-2" && got[2] != "deleted db-1" ||
		got[3] != "deleted db-1" && got[3] != "deleted db-2" {
		t.Errorf("pods went in the order %v, want db-4 and db-3 before db-2 and db-1", got)
	}
	waitReady(t, ns, "db", 1)
}
