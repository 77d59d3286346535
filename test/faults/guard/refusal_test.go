//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// mustRefuse waits until the server has refused its store, and makes sure that it
// says so everywhere. It returns the reason.
func (w *world) mustRefuse(t *testing.T, parts ...string) string {
	t.Helper()
	var reason string
	harness.Eventually(t, "the server refuses its store", func(ctx context.Context) error {
		_, err := w.direct.AppsV1().StatefulSets("default").List(ctx, metav1.ListOptions{})
		if reason = fmt.Sprint(err); !apierrors.IsServiceUnavailable(err) || !strings.Contains(reason, "An operator must choose") {
			return fmt.Errorf("list: got %w, want 503 with the choices", err)
		}
		return nil
	})
	t.Logf("refusal: %s", reason)
	for _, part := range parts {
		if !strings.Contains(reason, part) {
			t.Errorf("refusal: got %q, want it to contain %q", reason, part)
		}
	}
	if got := w.reason(t.Context()); !strings.Contains(got, "An operator must choose") {
		t.Errorf("/readyz/store: got %q, want the refusal", got)
	}
	if err := w.direct.AppsV1().RESTClient().Get().AbsPath("/livez").Do(t.Context()).Error(); err != nil {
		t.Errorf("/livez: got %v, want no error: a restart helps nobody", err)
	}
	w.awaitUnavailable(t)
	content, err := os.ReadFile(w.LogOf(w.program.Name))
	if err != nil || !strings.Contains(string(content), "An operator must choose") {
		t.Errorf("the server's log: got %d bytes, %v, want the refusal in it", len(content), err)
	}
	return reason
}

// awaitUnavailable waits until the cluster takes the API for unavailable.
func (w *world) awaitUnavailable(t *testing.T) {
	t.Helper()
	w.look(t)
	harness.Eventually(t, "the cluster finds the API unavailable", func(context.Context) error {
		got := w.kubectl(t, "get", "apiservice", apiService, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
		if got != "False" {
			return fmt.Errorf("Available: got %q, want False", got)
		}
		return nil
	})
}

// acceptCommand is the command that a refusal gives for accepting the store.
func acceptCommand(reason string) string {
	_, rest, _ := strings.Cut(reason, "(3) Accept")
	_, rest, _ = strings.Cut(rest, "`")
	command, _, _ := strings.Cut(rest, "`")
	return command
}

// rebuildFlags are the flags that a refusal gives for the rebuild.
func rebuildFlags(t *testing.T, reason string) []string {
	t.Helper()
	_, rest, _ := strings.Cut(reason, "`statefulset-apiserver store rebuild ")
	flags, _, ok := strings.Cut(rest, " --dry-run`")
	if !ok {
		t.Fatalf("refusal: got %q, want the command for the rebuild in it", reason)
	}
	return strings.Fields(flags)
}
