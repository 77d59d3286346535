// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// ours is our side. The violations of other rows are shown but do not make the table fail: those of
// the built-in controller, and the seeded bugs that the checks have missed, some of which their
// suite allows.
const ours = "ours"

// row is the result of one suite for one fault.
type row struct {
	Fault      string `json:"fault"`
	Side       string `json:"side"`
	Where      string `json:"where"`
	Runs       int    `json:"runs"`
	Violations int    `json:"violations"`
	Detail     string `json:"detail"`
}

func (r row) sameAs(other row) bool {
	return r.Fault == other.Fault && r.Side == other.Side && r.Where == other.Where
}

// read adds up the rows of the same fault, side and place, in the order of their first appearance.
func read(from io.Reader) ([]row, error) {
	var rows []row
	lines := bufio.NewScanner(from)
	for number := 1; lines.Scan(); number++ {
		var next row
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&next); err != nil {
			return nil, fmt.Errorf("line %d is not a row: %w", number, err)
		}
		if next.Fault == "" || next.Runs <= 0 {
			return nil, fmt.Errorf("line %d names fault %q with %d runs: want a name and at least one run", number, next.Fault, next.Runs)
		}
		if i := slices.IndexFunc(rows, next.sameAs); i >= 0 {
			rows[i].Runs += next.Runs
			rows[i].Violations += next.Violations
			rows[i].Detail = joined(rows[i].Detail, next.Detail)
			continue
		}
		rows = append(rows, next)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no rows: no suite has written a result")
	}
	return rows, nil
}

// joined concatenates two details, and repeats nothing.
func joined(a, b string) string {
	switch {
	case strings.Contains(a, b):
		return a
	case a == "":
		return b
	default:
		return a + "; " + b
	}
}

func violationsOfOurs(rows []row) int {
	found := 0
	for _, r := range rows {
		if r.Side == ours {
			found += r.Violations
		}
	}
	return found
}

func render(rows []row) string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| fault\t| where\t| side\t| runs\t| violations\t| detail\t|")
	fmt.Fprintln(table, "|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, r := range rows {
		fmt.Fprintf(table, "| %s\t| %s\t| %s\t| %d\t| %d\t| %s\t|\n", r.Fault, r.Where, r.Side, r.Runs, r.Violations, r.Detail)
	}
	// Writing to memory does not fail.
	_ = table.Flush()
	return out.String()
}
