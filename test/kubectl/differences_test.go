// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"statefulset.dev/test/harness"
)

// explanation is an entry of differences.yaml: lines that one side prints and the other does not, and why that is right.
type explanation struct {
	Row string `json:"row"`
	// Sides are plain, plugin or both.
	Sides []string `json:"sides"`
	// Lines are patterns. A line of apps/v1 begins with -, one of ours with +.
	Lines  []string `json:"lines"`
	Reason string   `json:"reason"`
}

func readExplanations(t *testing.T) []explanation {
	t.Helper()
	rows := readRows(t)
	return harness.Explanations(t, func(e explanation) error {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.Name == e.Row }) {
			return fmt.Errorf("there is no row %q", e.Row)
		}
		if len(e.Sides) == 0 || len(e.Lines) == 0 || e.Reason == "" {
			return errors.New("it needs sides, lines and a reason")
		}
		return nil
	})
}

// explains tells whether a differing line of a row is expected on a side.
func (e explanation) explains(row, side, line string) bool {
	return e.Row == row &&
		slices.ContainsFunc(e.Sides, func(s string) bool { return strings.HasPrefix(side, s) }) &&
		slices.ContainsFunc(e.Lines, func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(line) })
}

// differingLines returns the lines that only one of two texts has, or that they have in another order.
func differingLines(builtIn, ours string) []string {
	if builtIn == ours {
		return nil
	}
	count := map[string]int{}
	for line := range strings.Lines(builtIn) {
		count[line]++
	}
	var lines []string
	for line := range strings.Lines(ours) {
		if count[line]--; count[line] < 0 {
			lines = append(lines, "+"+strings.TrimSuffix(line, "\n"))
		}
	}
	for line := range strings.Lines(builtIn) {
		if count[line] > 0 {
			count[line]--
			lines = append(lines, "-"+strings.TrimSuffix(line, "\n"))
		}
	}
	if len(lines) == 0 {
		return []string{fmt.Sprintf("+the order of %d lines", strings.Count(ours, "\n"))}
	}
	return lines
}

func TestDifferingLinesAreThoseThatOneSideLacks(t *testing.T) {
	for sentence, c := range map[string]struct {
		builtIn, ours string
		want          []string
	}{
		"equal texts have none":              {"a\nb\n", "a\nb\n", nil},
		"a line more":                        {"a\n", "a\nb\n", []string{"+b"}},
		"a line less":                        {"a\nb\n", "a\n", []string{"-b"}},
		"a line twice is not the same":       {"a\na\n", "a\n", []string{"-a"}},
		"another order is a difference, too": {"a\nb\n", "b\na\n", []string{"+the order of 2 lines"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := differingLines(c.builtIn, c.ours); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
