//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// askedOfMembers returns which requests for the log of a member, or for a connection to it, the host has seen in a
// namespace: at least so many different ones.
func askedOfMembers(t *testing.T, namespace string, atLeast int) string {
	t.Helper()
	var asked []string
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		var err error
		asked, err = readAudit(namespace)
		return len(asked) >= atLeast, err
	})
	if err != nil {
		t.Errorf("waiting for %d requests to members in the audit log: %v; found %q", atLeast, err, asked)
	}
	return strings.Join(asked, "\n")
}

func readAudit(namespace string) ([]string, error) {
	file, err := os.Open(filepath.Join(suite.Dir, "logs", "audit.log"))
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	defer file.Close()
	var asked []string
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			slices.Sort(asked)
			return slices.Compact(asked), nil
		}
		var event auditv1.Event
		if json.Unmarshal(line, &event) != nil || event.ObjectRef == nil || event.ObjectRef.Namespace != namespace {
			continue
		}
		if of := event.ObjectRef; slices.Contains([]string{"log", "exec", "attach", "portforward"}, of.Subresource) &&
			event.ResponseStatus != nil {
			asked = append(asked, fmt.Sprintf("%s %s/%s/%s: %d %s", event.Verb, of.Resource, of.Name, of.Subresource, event.ResponseStatus.Code,
				event.ResponseStatus.Message))
		}
	}
}
