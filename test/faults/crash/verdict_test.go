//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/faults/internal/scenarios"
)

// quietTime is how long nothing may be written once all runs have converged.
const quietTime = 3 * time.Second

// verdict is what came of the runs of one fault on one side.
type verdict struct {
	fault string
	side  side

	mu   sync.Mutex
	runs int
	// found counts the violations of each promise, and texts has some of each.
	found map[string]int
	texts map[string][]string
	notes []string
}

func newVerdict(fault string, s side) *verdict {
	return &verdict{fault: fault, side: s, found: map[string]int{}, texts: map[string][]string{}}
}

// shown is how many violations of a promise are told in full.
const shown = 5

func (v *verdict) add(where string, violations ...violation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range violations {
		v.found[one.promise]++
		if len(v.texts[one.promise]) < shown {
			v.texts[one.promise] = append(v.texts[one.promise], where+": "+one.text)
		}
	}
}

func (v *verdict) note(format string, args ...any) {
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

// settle waits until the runs have ended as their fault-free references did, and then
// watches that nothing is written any more.
func settle(t *testing.T, runs []*run, reference map[string]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience/4)
	defer cancel()
	for _, r := range runs {
		want := reference[r.scenario.Name]
		if r.unmet != "" {
			continue
		}
		r.unmet = r.until(ctx, func(o scenarios.Observed) string {
			if got := scenarios.Outcome(o); got != want {
				return fmt.Sprintf("it ended otherwise than without faults; got\n%s\nwant\n%s", got, want)
			}
			return ""
		})
	}
}

// stillness returns, for each run, what the controller wrote once there was nothing left
// to do. A last status may follow what made the run end, so it begins a moment later.
func (b *bench) stillness(t *testing.T, runs []*run) map[*run][]violation {
	t.Helper()
	wait(t, time.Second)
	begin := time.Now()
	wait(t, quietTime)
	found := map[*run][]violation{}
	for _, r := range runs {
		if r.unmet != "" {
			continue
		}
		for _, e := range b.audit.of(t, r.side.user(), r.namespace) {
			if e.at.After(begin) && e.writes() {
				found[r] = append(found[r],
					violation{quiet, fmt.Sprintf("%s %s %s, %s after convergence", e.verb, e.resource, e.name, e.at.Sub(begin))})
			}
		}
		for _, record := range r.all() {
			if record.kind == sets && record.at.After(begin) {
				found[r] = append(found[r],
					violation{quiet, fmt.Sprintf("set at version %d %s, %s after convergence", record.version, record.verb, record.at.Sub(begin))})
			}
		}
	}
	return found
}

func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.FailNow()
	}
}

// judgeAll waits for the runs to settle, asks the oracles, and lets the namespaces go.
func (b *bench) judgeAll(t *testing.T, v *verdict, runs []*run, reference map[string]string) {
	t.Helper()
	settle(t, runs, reference)
	late := b.stillness(t, runs)
	for _, r := range runs {
		where := fmt.Sprintf("%s (%s)", r.scenario.Name, r.namespace)
		v.add(where, late[r]...)
		v.add(where, r.judge(b.audit.of(t, r.side.user(), r.namespace))...)
	}
	leave(t, runs)
}

// report fails the test if ours has a violation, and appends the row to the table.
func (v *verdict) report(t *testing.T, b *bench) {
	t.Helper()
	total := 0
	var counts []string
	for _, promise := range slices.Sorted(maps.Keys(v.found)) {
		total += v.found[promise]
		counts = append(counts, fmt.Sprintf("%s: %d", promise, v.found[promise]))
		for _, text := range v.texts[promise] {
			t.Logf("%s, %s: %s", v.side, promise, text)
		}
	}
	if n := b.collector.restarts(); n > 0 {
		v.note("the host's garbage collector was restarted %d times, having missed the end of a set", n)
	}
	detail := strings.Join(append(v.notes, counts...), "; ")
	if v.side == ours && total > 0 {
		t.Errorf("%s: got %d violations, want none", v.fault, total)
	}
	row.Report(t, row.Row{Fault: v.fault, Side: string(v.side), Where: "real", Runs: v.runs, Violations: total, Detail: detail})
}
