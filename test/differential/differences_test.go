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
	// Sometimes is true if the differences do not occur in every run.
	Sometimes bool   `json:"sometimes,omitempty"`
	Reason    string `json:"reason"`
}

// explains returns which of the patterns explains a difference, -1 if none does.
func (e explanation) explains(scenario string, d difference) int {
	if !slices.Contains(e.Scenarios, scenario) {
		return -1
	}
	return slices.IndexFunc(e.What, func(pattern string) bool { return harness.Pattern(pattern).MatchString(d.what) })
}

func readExplanations(t *testing.T) []explanation {
	t.Helper()
	return harness.Explanations(t, func(e explanation) error {
		if len(e.Scenarios) == 0 || len(e.What) == 0 || e.Reason == "" {
			return errors.New("it needs scenarios, what and reason")
		}
		return nil
	})
}
