//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"statefulset.dev/test/faults/internal/row"
)

// TestHostileBodiesLeaveTheServerSmall sends many bodies at once that want much more
// memory than they have bytes.
func TestHostileBodiesLeaveTheServerSmall(t *testing.T) {
	const senders, each = 16, 2
	w := newWorld(t, map[string]string{"preflight": "off"})
	head := `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"x"},"spec":`
	bodies := map[string]string{
		"objects":  head + `{"template":{"spec":{"containers":[` + strings.Repeat(`{},`, 900<<10) + `{}]}}}}`,
		"depth":    head + strings.Repeat(`{"a":`, 500<<10),
		"keys":     head + `{` + strings.Repeat(`"a":1,`, 500<<10) + `"b":1}}`,
		"too long": strings.Repeat(" ", 3<<20+1),
		"numbers":  head + `{"replicas":` + strings.Repeat("9", 2<<20) + `}}`,
		"strings":  head + `{"serviceName":"` + strings.Repeat(`\u0000`, 500<<10) + `"}}`,
	}
	client, base := w.client("sender")
	url := base + "/apis/apps.statefulset.dev/v1/namespaces/" + w.namespace + "/statefulsets?fieldValidation=Strict"
	codes, violations := &tally{codes: map[int]int{}}, 0
	for name, body := range bodies {
		var running sync.WaitGroup
		for range senders {
			running.Go(func() {
				for range each {
					codes.add(send(t.Context(), client, http.MethodPost, url, body, codes))
				}
			})
		}
		running.Wait()
		t.Logf("after %s: %s; at most %d MiB", name, codes, w.memory()>>20)
	}
	for code := range codes.codes {
		if code == 0 && codes.of(413) > 0 {
			continue // the connection ends before a body that is too long
		}
		if code < 400 || code >= 500 {
			violations++
			t.Errorf("answers with code %d: got %d, want none", code, codes.of(code))
		}
	}
	if peak := w.memory(); peak > memoryCeiling {
		violations++
		t.Errorf("memory: got %d MiB, want at most %d", peak>>20, memoryCeiling>>20)
	}
	w.create("after", 1)
	w.awaitReady("after", 1)
	row.Report(t, row.Row{Fault: "hostile bodies", Side: "ours", Where: "real", Runs: len(bodies) * senders * each, Violations: violations,
		Detail: fmt.Sprintf("%d at once; all refused with 4xx; at most %d MiB", senders, w.memory()>>20)})
}
