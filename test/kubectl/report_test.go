//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"testing"
	"text/tabwriter"
)

// report gathers the verdicts of rows that are played at the same time.
type report struct {
	mu           sync.Mutex
	verdicts     map[string]map[string]string
	explanations []explanation
	used         map[int]bool
	unexplained  int
}

func newReport(explanations []explanation) *report {
	return &report{verdicts: map[string]map[string]string{}, explanations: explanations, used: map[int]bool{}}
}

func (r *report) add(row, side, verdict string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verdicts[row] == nil {
		r.verdicts[row] = map[string]string{}
	}
	r.verdicts[row][side] = verdict
}

// explain returns those lines that no entry of differences.yaml explains.
func (r *report) explain(row, side string, lines []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var unexplained []string
	for _, line := range lines {
		explained := false
		for i, e := range r.explanations {
			if e.explains(row, side, line) {
				r.used[i], explained = true, true
			}
		}
		if !explained {
			unexplained = append(unexplained, line)
		}
	}
	r.unexplained += len(unexplained)
	return unexplained
}

// print writes the table, and fails for explanations of differences that were not seen, if all rows were played with every
// kubectl.
func (r *report) print(t *testing.T, rows []row) {
	t.Helper()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "ROW")
	for _, s := range suite.sides {
		if s.ours {
			fmt.Fprintf(table, "\t%s", s.name)
		}
	}
	fmt.Fprintln(table)
	for _, row := range rows {
		if len(r.verdicts[row.Name]) == 0 {
			continue
		}
		fmt.Fprint(table, row.Name)
		for _, s := range suite.sides {
			if s.ours {
				fmt.Fprintf(table, "\t%s", cmp.Or(r.verdicts[row.Name][s.name], "-"))
			}
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush()
	fmt.Printf("%d rows, %d explained differences, %d unexplained\n", len(r.verdicts), len(r.used), r.unexplained)
	if len(r.verdicts) < len(rows) || testing.Short() {
		return
	}
	for i, e := range r.explanations {
		if !r.used[i] {
			t.Errorf("differences.yaml: entry %d (%q: %s) explains nothing that was seen: remove it", i+1, e.Row, e.Reason)
		}
	}
}
