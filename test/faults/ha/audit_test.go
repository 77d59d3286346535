//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// writesBy are the requests of a replica that changed pods, claims or revisions of
// the host and that reached the host after a moment, as the host's audit log has
// them.
func (f *fleet) writesBy(r *replica, after time.Time) []auditv1.Event {
	f.t.Helper()
	file, err := os.Open(f.lab.Path("logs", "audit.log"))
	if err != nil {
		f.t.Fatalf("opening the audit log: %v", err)
	}
	defer file.Close()
	var found []auditv1.Event
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event auditv1.Event
		// The last line may be half written.
		if json.Unmarshal(lines.Bytes(), &event) != nil || !strings.HasPrefix(event.UserAgent, r.name+"/") {
			continue
		}
		// Every replica tries sets on the host in dry runs.
		dryRun := strings.Contains(event.RequestURI, "dryRun=")
		if isMember(event.ObjectRef) && !dryRun && event.RequestReceivedTimestamp.After(after) {
			found = append(found, event)
		}
	}
	if err := lines.Err(); err != nil {
		f.t.Fatalf("reading the audit log: %v", err)
	}
	return found
}

// isMember says whether an object is part of a set.
func isMember(ref *auditv1.ObjectReference) bool {
	return ref != nil && slices.Contains([]string{"pods", "persistentvolumeclaims", "controllerrevisions"}, ref.Resource)
}
