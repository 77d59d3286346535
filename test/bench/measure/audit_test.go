// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"maps"
	"strings"
	"testing"
)

const auditLog = `{"stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/pods","verb":"create","user":{"username":"ours"},"objectRef":{"resource":"pods","namespace":"a"}}
{"stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/pods?dryRun=All","verb":"create","user":{"username":"ours"},"objectRef":{"resource":"pods","namespace":"a"}}
{"stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/pods/x","verb":"get","user":{"username":"ours"},"objectRef":{"resource":"pods","namespace":"a"}}
{"stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/pods/x/status","verb":"patch","user":{"username":"kwok"},"objectRef":{"resource":"pods","namespace":"a","subresource":"status"}}
{"stage":"ResponseComplete","requestURI":"/api/v1/namespaces/b/pods","verb":"create","user":{"username":"ours"},"objectRef":{"resource":"pods","namespace":"b"}}
{"stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/events","verb":"create","user":{"username":"ours"},"objectRef":{"resource":"events","namespace":"a"},"responseStatus":{"code":403}}
{"stage":"ResponseStarted","requestURI":"/api/v1/namespaces/a/pods","verb":"create","user":{"username":"ours"},"objectRef":{"resource":"pods","namespace":"a"}}
{"stage":"ResponseComplete","requestURI":"/version","verb":"get","user":{"username":"ours"}}
`

func TestCountWrites(t *testing.T) {
	for sentence, test := range map[string]struct {
		filter     Filter
		want, dry  Requests
		wantWrites int
	}{
		"of one user in one namespace, refused ones too": {
			Filter{User: "ours", Namespace: "a"}, Requests{"create pods": 1, "create events": 1}, Requests{"create pods": 1}, 2},
		"of one user anywhere": {Filter{User: "ours"}, Requests{"create pods": 2, "create events": 1}, Requests{"create pods": 1}, 3},
		"reads, too": {Filter{User: "ours", Namespace: "a", Reads: true}, Requests{"create pods": 1, "create events": 1, "get pods": 1},
			Requests{"create pods": 1}, 3},
		"of a subresource": {Filter{User: "kwok"}, Requests{"patch pods/status": 1}, Requests{}, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			writes, dryRuns, err := CountWrites(strings.NewReader(auditLog), test.filter)
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(writes, test.want) || !maps.Equal(dryRuns, test.dry) || writes.Total() != test.wantWrites {
				t.Errorf("got %v and dry runs %v, want %v and %v", writes, dryRuns, test.want, test.dry)
			}
		})
	}
	if got := (Requests{"create pods": 2, "delete pods": 1, "patch pods/status": 4}).Of("pods"); got != 3 {
		t.Errorf("requests about pods: got %d, want 3", got)
	}
}

func TestALineThatIsNoEventIsAnError(t *testing.T) {
	if _, _, err := CountWrites(strings.NewReader(auditLog+"{\"stage\":"), Filter{}); err == nil || !strings.Contains(err.Error(), "line 9") {
		t.Errorf("half a line at the end: got error %v, want one that names line 9", err)
	}
}
