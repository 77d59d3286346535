// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Requests counts the requests to the host cluster by verb and resource.
type Requests map[string]int

// Total returns the number of requests.
func (r Requests) Total() int {
	total := 0
	for _, n := range r {
		total += n
	}
	return total
}

// Of returns the number of requests for a resource.
func (r Requests) Of(resource string) int {
	n := 0
	for name, count := range r {
		if strings.HasSuffix(name, " "+resource) {
			n += count
		}
	}
	return n
}

// Filter selects events of an audit log.
type Filter struct {
	// User is the user of a request. If empty, all users match.
	User string
	// Namespace is the namespace of a request. If empty, all namespaces match.
	Namespace string
	// Reads also selects requests that change nothing.
	Reads bool
}

// longestEvent limits the length of a line of the log: the audit policy of the benchmarks records
// no bodies.
const longestEvent = 1 << 20

// CountWrites counts the completed requests in an audit log that change something, or all requests
// if the filter selects reads, regardless of their responses. Dry runs change nothing, so they are
// counted separately.
func CountWrites(log io.Reader, filter Filter) (writes, dryRuns Requests, err error) {
	writes, dryRuns = Requests{}, Requests{}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, longestEvent)
	for number := 1; lines.Scan(); number++ {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, nil, fmt.Errorf("decoding line %d of the audit log: %w", number, err)
		}
		if !filter.takes(&event) {
			continue
		}
		if strings.Contains(event.RequestURI, "dryRun=") {
			dryRuns[name(&event)]++
		} else {
			writes[name(&event)]++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("reading the audit log: %w", err)
	}
	return writes, dryRuns, nil
}

func (f Filter) takes(event *auditv1.Event) bool {
	if event.ObjectRef == nil || event.Stage != auditv1.StageResponseComplete && event.Stage != auditv1.StagePanic {
		return false
	}
	if f.User != "" && event.User.Username != f.User || f.Namespace != "" && event.ObjectRef.Namespace != f.Namespace {
		return false
	}
	if f.Reads {
		return true
	}
	switch event.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	default:
		return false
	}
}

func name(event *auditv1.Event) string {
	resource := event.ObjectRef.Resource
	if event.ObjectRef.Subresource != "" {
		resource += "/" + event.ObjectRef.Subresource
	}
	return event.Verb + " " + resource
}
