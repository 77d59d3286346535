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

	"statefulset.dev/test/harness"
)

// TestTheLeaderIsUpdatedLast updates the example twice, with another leader each time.
func TestTheLeaderIsUpdatedLast(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/order.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	pods := watchPods(t, ns)
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 4)

	kubectl(t, "label", "pod", "db-3", "role=leader", "-n", ns)
	second := strings.Replace(string(content), "nginx-slim:0.24", "nginx-slim:0.25", 1)
	_, proposal, _ := strings.Cut(second, "---\n")
	harness.Eventually(t, "the plan says why db-3 is last", func(context.Context) error {
		said, err := planCommand(t, ns, proposal, "-f", "-")
		if want := "delete pod db-3 (update): the pod is outdated; last, role=leader"; err == nil &&
			!strings.Contains(said, want) {
			err = fmt.Errorf("kubectl sts plan says %s, want a line with %q", said, want)
		}
		return err
	})
	mark := pods.mark()
	kubectlApply(t, second, "-n", ns)
	pods.expectLast(t, mark, []string{"db-0", "db-2"}, "db-1", "db-3")
	waitReady(t, ns, "db", 4)

	// The label has gone with the pod. Another member leads now.
	kubectl(t, "label", "pod", "db-1", "role=leader", "-n", ns)
	mark = pods.mark()
	kubectlApply(t, strings.Replace(second, "nginx-slim:0.25", "nginx-slim:0.26", 1), "-n", ns)
	pods.expectLast(t, mark, []string{"db-0", "db-2"}, "db-3", "db-1")
	waitReady(t, ns, "db", 4)
}

// expectLast waits until four members were replaced, and compares the order: two at once, a
// third one, and the last when the others are back.
func (j *journal) expectLast(t *testing.T, mark int, together []string, third, last string) {
	t.Helper()
	harness.Eventually(t, "four members are replaced", func(context.Context) error {
		if got := j.since(mark); len(got) < 8 {
			return fmt.Errorf("so far %v", got)
		}
		return nil
	})
	got := j.since(mark)
	var removed []string
	for _, entry := range got {
		if name, ok := strings.CutPrefix(entry, "deleted "); ok {
			removed = append(removed, name)
		}
	}
	slices.Sort(removed[:2])
	if want := append(slices.Clone(together), third, last); !slices.Equal(removed, want) {
		t.Errorf("pods were removed in the order %v, want %v, the first two in any order", removed, want)
	}
	if want := []string{"deleted " + last, "added " + last}; !slices.Equal(got[6:], want) {
		t.Errorf("pods came and went in the order %v, want %v at the end", got, want)
	}
}
