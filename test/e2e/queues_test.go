//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"statefulset.dev/test/harness"
)

// Our work is in queues of the host that load of others does not fill.
func TestTheHostQueuesOurWorkApart(t *testing.T) {
	ns := namespace(t)
	create(t, ns, newSet("web", 1))
	waitReady(t, ns, "web", 1)
	for schema, level := range map[string]string{
		"statefulset-apiserver-leases": "leader-election",
		"statefulset-apiserver":        "workload-high",
	} {
		harness.Eventually(t, fmt.Sprintf("the host has put requests of ours into %s by %s", level, schema), func(ctx context.Context) error {
			raw, err := suite.Host.Discovery().RESTClient().Get().AbsPath("/metrics").Do(ctx).Raw()
			if err != nil {
				return fmt.Errorf("reading the metrics of the host: %w", err)
			}
			want := fmt.Sprintf(`apiserver_flowcontrol_dispatched_requests_total{flow_schema=%q,priority_level=%q}`, schema, level)
			line := metric(raw, want)
			if line == "" {
				return fmt.Errorf("%s: got none, want some", want)
			}
			t.Log(line)
			return nil
		})
	}
}

// metric is the line of a metric whose value is not zero.
func metric(raw []byte, name string) string {
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok && value != "0" {
			return lines.Text()
		}
	}
	return ""
}
