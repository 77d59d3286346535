//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"strings"
	"testing"
)

// judge prints the table and fails the test for what is not explained, and, if complete, for
// explanations of what is no more.
func (r *results) judge(t *testing.T, explanations []explanation, complete bool) {
	t.Helper()
	used := newUse(explanations)
	widest := 0
	var unexplained []string
	for name := range r.byName {
		widest = max(widest, len(name))
	}
	var table strings.Builder
	for _, name := range keysOf(r.byName) {
		open := used.unexplained(name, r.byName[name])
		for _, d := range open {
			unexplained = append(unexplained, fmt.Sprintf("%s: %s", name, d))
		}
		fmt.Fprintf(&table, "%-*s  ", widest, name)
		switch {
		case r.failed[name]:
			fmt.Fprintln(&table, "NOT PLAYED TO ITS END")
		case len(open) > 0:
			fmt.Fprintf(&table, "DIFFERENT in %d things, first\n  %s\n", len(open), open[0])
		case len(r.byName[name]) > 0:
			fmt.Fprintln(&table, "explained")
		default:
			fmt.Fprintln(&table, "same")
		}
	}
	if complete {
		for _, stale := range used.stale(r.byName) {
			t.Error(stale)
		}
	}
	fmt.Printf("\n%s%d scenarios, %d explained differences, %d unexplained\n", &table, len(r.byName), used.differences, len(unexplained))
	if len(unexplained) > 0 {
		t.Errorf("differences.yaml does not explain:\n%s", strings.Join(unexplained, "\n"))
	}
}

// use knows which explanations have explained something.
type use struct {
	explanations []explanation
	// scenarios and patterns are the scenarios and the patterns of each explanation
	// that have occurred.
	scenarios, patterns []map[string]bool
	differences         int
}

func newUse(explanations []explanation) *use {
	u := &use{explanations: explanations}
	for range explanations {
		u.scenarios = append(u.scenarios, map[string]bool{})
		u.patterns = append(u.patterns, map[string]bool{})
	}
	return u
}

// unexplained notes which explanations a scenario needs, and returns the differences
// that have none.
func (u *use) unexplained(scenario string, found []difference) []difference {
	var open []difference
	for _, d := range found {
		explained := false
		for i, e := range u.explanations {
			if at := e.explains(scenario, d); at >= 0 {
				explained = true
				u.scenarios[i][scenario], u.patterns[i][e.What[at]] = true, true
			}
		}
		if explained {
			u.differences++
		} else {
			open = append(open, d)
		}
	}
	return open
}

// stale says which explanations explain nothing any more, as far as their scenarios
// have been played.
func (u *use) stale(played map[string][]difference) []string {
	var all []string
	for i, e := range u.explanations {
		complete := true
		for _, scenario := range e.Scenarios {
			_, ok := played[scenario]
			complete = complete && ok
			if ok && !u.scenarios[i][scenario] && !e.Sometimes {
				all = append(all, fmt.Sprintf("stale difference: %s does not show any more that: %s", scenario, e.Reason))
			}
		}
		for _, pattern := range e.What {
			if complete && !u.patterns[i][pattern] && !e.Sometimes {
				all = append(all, fmt.Sprintf("stale difference: no %q occurs any more in %s", pattern, strings.Join(e.Scenarios, ", ")))
			}
		}
	}
	return all
}
