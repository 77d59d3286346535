// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
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
	return slices.IndexFunc(e.What, func(pattern string) bool { return matches(pattern, d.what) })
}

func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(text)
}

func readExplanations(t *testing.T) []explanation {
	t.Helper()
	content, err := os.ReadFile("differences.yaml")
	if err != nil {
		t.Fatalf("reading the explained differences: %v", err)
	}
	var all []explanation
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		t.Fatalf("reading differences.yaml: %v", err)
	}
	for i, e := range all {
		if len(e.Scenarios) == 0 || len(e.What) == 0 || e.Reason == "" {
			t.Fatalf("differences.yaml: entry %d (%+v) must have scenarios, what and reason", i+1, e)
		}
	}
	return all
}
