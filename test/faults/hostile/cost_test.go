//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// asked is how often each request is sent whose cost is reported.
const asked = 30

// compareCosts reports what it costs to refuse hostile sets, and to serve sets of the same size with
// a harmless expression, both in dry runs.
func (w *world) compareCosts(client *http.Client, refused []request) {
	w.t.Helper()
	expressions := hostileExpressions(w.t)
	for _, r := range refused {
		name, _, _ := strings.Cut(r.what, ",")
		served := r
		served.body = expressions[name].with(w.t, "harmless", expressions[name].harmless)
		w.t.Logf("%s: a refusal takes %s; a harmless set is served in %s", name, w.cost(client, r), w.cost(client, served))
	}
}

// cost is what a request takes, of time and of the server's processor, and what the answers were.
func (w *world) cost(client *http.Client, r request) string {
	codes := &tally{codes: map[int]int{}}
	used, began := w.processor(), time.Now()
	for range asked {
		code, _, err := ask(w.t.Context(), client, r.method, r.url, r.body)
		if err != nil {
			code = 0
		}
		codes.add(code)
	}
	took, used := time.Since(began)/asked, (w.processor()-used)/asked
	return fmt.Sprintf("%s (%s of the processor, %s)", took.Round(10*time.Microsecond), used.Round(10*time.Microsecond), codes)
}

// processor is how much of the processor the server has used.
func (w *world) processor() (used time.Duration) {
	w.t.Helper()
	w.eventually("the server reports what it has used of the processor", func(ctx context.Context) error {
		value, err := w.gauge(ctx, "process_cpu_seconds_total")
		used = time.Duration(value * float64(time.Second))
		return err
	})
	return used
}
