//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"statefulset.dev/test/harness"
)

// events are those of an audit log that are wanted, of requests that were answered, and of watches
// that have begun.
func events(t testing.TB, path string, wanted func(*auditv1.Event) bool) (found []auditv1.Event) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatalf("opening an audit log: %v", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event auditv1.Event
		if json.Unmarshal(lines.Bytes(), &event) == nil && (event.Stage != auditv1.StageResponseStarted) != (event.Verb == "watch") &&
			wanted(&event) {
			found = append(found, event)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("reading an audit log: %v", err)
	}
	return found
}

// auditedBy is the one event whose request has a word in its address.
func (w *world) auditedBy(t testing.TB, path, word string) (event auditv1.Event) {
	t.Helper()
	harness.Eventually(t, "the audit log has the request with "+word, func(context.Context) error {
		found := events(t, path, func(e *auditv1.Event) bool { return strings.Contains(e.RequestURI, word) })
		if len(found) != 1 {
			return fmt.Errorf("got %d events, want 1", len(found))
		}
		event = found[0]
		return nil
	})
	return event
}
