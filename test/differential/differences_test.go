// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"statefulset.dev/test/harness"
)

// difference is something that one side has done otherwise than the other.
type difference struct {
	// what names it the same way in every run; the values may have random parts.
	what          string
	builtin, ours string
	// when is the step after which it was found.
	when string
}

func (d difference) String() string {
	return fmt.Sprintf("%s: %s\n    built-in: %s\n    ours:     %s", d.when, d.what, d.builtin, d.ours)
}

// explanation is an entry of differences.yaml.
type explanation struct {
	// Scenarios are the names of those in which the differences occur.
	Scenarios []string `json:"scenarios"`
	// What are patterns of the names of differences, in which * stands for anything.
	What []string `json:"what"`
	// By is built-in if ours is to have nothing of the kind, empty otherwise.
	By string `json:"by,omitempty"`
	// Sometimes is true if the differences do not occur in every run.
	Sometimes bool   `json:"sometimes,omitempty"`
	Reason    string `json:"reason"`
}

// explains returns which of the patterns explains a difference, -1 if none does.
func (e explanation) explains(scenario string, d difference) int {
	if !slices.Contains(e.Scenarios, scenario) || e.By == builtinOnly && d.ours != missing {
		return -1
	}
	return slices.IndexFunc(e.What, func(pattern string) bool { return harness.Pattern(pattern).MatchString(d.what) })
}

// builtinOnly is for what the built-in one alone may do.
const builtinOnly = "built-in"

// missing stands for what one side does not have.
const missing = "(none)"

func readExplanations(t *testing.T) []explanation {
	t.Helper()
	return harness.Explanations(t, func(e explanation) error {
		if len(e.Scenarios) == 0 || len(e.What) == 0 || e.Reason == "" {
			return errors.New("it needs scenarios, what and reason")
		}
		if e.By != "" && e.By != builtinOnly {
			return fmt.Errorf("by is %q: want nothing or %s", e.By, builtinOnly)
		}
		return nil
	})
}

func TestWhatTheBuiltInAloneMayDoIsNotExplainedForOurs(t *testing.T) {
	e := explanation{Scenarios: []string{"claims"}, What: []string{"event * naming pod *"}, By: builtinOnly}
	for _, test := range []struct {
		scenario string
		found    difference
		want     int
	}{
		{"claims", difference{what: "event Normal naming pod web-1", builtin: "told", ours: missing}, 0},
		{"claims", difference{what: "event Normal naming pod web-1", builtin: missing, ours: "told"}, -1},
		{"claims", difference{what: "pod web-1", builtin: "there", ours: missing}, -1},
		{"other", difference{what: "event Normal naming pod web-1", builtin: "told", ours: missing}, -1},
	} {
		if got := e.explains(test.scenario, test.found); got != test.want {
			t.Errorf("in scenario %s, %q by built-in %q and ours %q: got pattern %d, want %d", test.scenario, test.found.what, test.found.builtin,
				test.found.ours, got, test.want)
		}
	}
}
