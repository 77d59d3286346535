//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

const serverUser = "system:serviceaccount:statefulset-system:statefulset-apiserver"

// TestHostRequests reads in the host's audit log what our server has asked for
// during the life of a set: nothing that its role does not allow.
func TestHostRequests(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, newSet("db", 2))
	waitReady(t, ns, "db", 2)
	kubectl(t, "scale", kind, "db", "-n", ns, "--replicas=1")
	waitReady(t, ns, "db", 1)

	seen := 0
	eachAuditEvent(t, func(event *auditv1.Event) {
		if event.User.Username != serverUser || event.ObjectRef == nil || event.ObjectRef.Namespace != ns {
			return
		}
		seen++
		if event.ResponseStatus != nil && event.ResponseStatus.Code == 403 {
			t.Errorf("the host forbade our server to %s %s %s: %s", event.Verb, event.ObjectRef.Resource, event.ObjectRef.Name,
				event.ResponseStatus.Message)
		}
	})
	if seen == 0 {
		t.Errorf("the audit log shows no request of %s in namespace %s", serverUser, ns)
	}
}

func eachAuditEvent(t *testing.T, do func(*auditv1.Event)) {
	t.Helper()
	file, err := os.Open(filepath.Join(suite.Dir, "logs", "audit.log"))
	if err != nil {
		t.Fatalf("opening the audit log: %v", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event auditv1.Event
		if json.Unmarshal(lines.Bytes(), &event) == nil {
			do(&event)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("reading the audit log: %v", err)
	}
}
