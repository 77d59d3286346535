//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"statefulset.dev/test/harness"
)

// ofPod is what the host knows of who uses the token of a pod.
const ofPod = "authentication.kubernetes.io/pod-name"

// audit is the host's audit log, from a moment on.
type audit struct {
	path string
	from int64
}

// newAudit is the log of what happens from now on.
func newAudit(t *testing.T) audit {
	t.Helper()
	path := cluster.Path("logs", "audit.log")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatalf("looking at the audit log: %v", err)
	}
	return audit{path, info.Size()}
}

// writes are the requests of our controller, in any server, that changed pods and reached the host
// after a moment.
func (a audit) writes(after time.Time) ([]auditv1.Event, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(a.from, io.SeekStart); err != nil {
		return nil, err
	}
	var found []auditv1.Event
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event auditv1.Event
		// The first line and the last one may be half a line.
		if json.Unmarshal(lines.Bytes(), &event) == nil && isOurs(event) && event.RequestReceivedTimestamp.After(after) {
			found = append(found, event)
		}
	}
	return found, lines.Err()
}

func isOurs(event auditv1.Event) bool {
	// Every server tries sets on the host in dry runs.
	dryRun := strings.Contains(event.RequestURI, "dryRun=")
	return strings.HasPrefix(event.User.Username, "system:serviceaccount:"+system+":") && event.ObjectRef != nil &&
		event.ObjectRef.Resource == "pods" && !dryRun
}

func isBy(event auditv1.Event, pod string) bool {
	return slices.Contains(event.User.Extra[ofPod], pod)
}

// first waits until a server has written after a moment, other than the one that is given, and
// returns when.
func (a audit) first(t *testing.T, after time.Time, except string) time.Time {
	t.Helper()
	var first time.Time
	harness.Eventually(t, "a server has changed a pod", func(context.Context) error {
		found, err := a.writes(after)
		for _, event := range found {
			if !isBy(event, except) {
				first = event.RequestReceivedTimestamp.Time
				return nil
			}
		}
		return errors.Join(err, errors.New("the audit log has no such request"))
	})
	return first
}

// until waits until a moment is over and a server has written after it, and returns what was
// written since another one.
func (a audit) until(t *testing.T, end, since time.Time) []auditv1.Event {
	t.Helper()
	a.first(t, end, "")
	found, err := a.writes(since)
	if err != nil {
		t.Fatalf("reading the audit log: %v", err)
	}
	return found
}
