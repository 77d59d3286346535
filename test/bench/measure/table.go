// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table returns a row for each goal, in Markdown that is readable as plain text.
func (r *Run) Table() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| case\t| measure\t| ours\t| against\t| theirs\t| ratio\t| target\t| verdict\t|")
	fmt.Fprintln(table, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, result := range r.Results {
		for _, goal := range result.Goals {
			fmt.Fprintf(table, "| %s\t|\n", strings.Join(result.row(goal), "\t| "))
		}
	}
	// Writing to memory does not fail.
	_ = table.Flush()
	return out.String()
}

func (r Result) row(g Goal) []string {
	ours := SpreadOf(r.Samples[Ours]).String()
	row := []string{r.Case, r.Measure + ", " + r.Unit, cmp.Or(ours, "-")}
	if g.Bounded {
		sign := "<="
		if r.Better == More {
			sign = ">="
		}
		row = append(row, "-", "-", "-", sign+" "+digits(g.Limit))
	} else {
		theirs, ratio := SpreadOf(r.Samples[g.Against]).String(), times(r.Ratios(g.Against))
		target := "-"
		if g.Ratio != 0 {
			target = ">= " + digits(g.Ratio) + "x"
		}
		if g.Or != nil {
			target += fmt.Sprintf(", or %s (is %s) of %s", digits(g.Or.Ratio)+"x", times(r.Ratios(g.Or.Against)), g.Or.Against)
		}
		row = append(row, g.Against, cmp.Or(theirs, "-"), cmp.Or(ratio, "-"), target)
	}
	return append(row, cmp.Or(string(r.Verdict(g)), "-"))
}

// times formats ratios with an "x". A ratio to a side whose sample is zero in some round is
// meaningless, so it is omitted.
func times(ratios []float64) string {
	if slices.ContainsFunc(ratios, func(ratio float64) bool { return math.IsInf(ratio, 0) || math.IsNaN(ratio) }) {
		return ""
	}
	median, rest, ranged := strings.Cut(SpreadOf(ratios).String(), " ")
	switch {
	case median == "":
		return ""
	case ranged:
		return median + "x " + rest
	default:
		return median + "x"
	}
}

// Missed returns the comparisons of some cases that no round has met, and those that could not be
// made.
func (r *Run) Missed(cases []string) []string {
	var missed []string
	for _, result := range r.Results {
		if !slices.Contains(cases, result.Case) {
			continue
		}
		for _, goal := range result.Goals {
			if v := result.Verdict(goal); v == Missed || v == Unmeasured {
				missed = append(missed, strings.Join(result.row(goal), ", "))
			}
		}
	}
	return missed
}
