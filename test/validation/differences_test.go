//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// explanation is an entry of differences.yaml. All but Reason are patterns in which
// * stands for anything; Builtin and Ours may be left out.
type explanation struct {
	Case    string `json:"case"`
	What    string `json:"what"`
	Builtin string `json:"builtin,omitempty"`
	Ours    string `json:"ours,omitempty"`
	Reason  string `json:"reason"`

	matchers [4]*regexp.Regexp
	used     bool
}

func (e *explanation) explains(name string, d difference) bool {
	for i, text := range []string{name, d.what, d.builtin, d.ours} {
		if !e.matchers[i].MatchString(text) {
			return false
		}
	}
	return true
}

func readExplanations(t *testing.T) []*explanation {
	t.Helper()
	content, err := os.ReadFile("differences.yaml")
	if err != nil {
		t.Fatalf("reading the explained differences: %v", err)
	}
	var all []*explanation
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		t.Fatalf("reading differences.yaml: %v", err)
	}
	for i, e := range all {
		if e.Case == "" || e.What == "" || e.Reason == "" {
			t.Fatalf("differences.yaml: entry %d (%+v) must have case, what and reason", i+1, e)
		}
		for i, pattern := range []string{e.Case, e.What, e.Builtin, e.Ours} {
			e.matchers[i] = matcher(pattern)
		}
	}
	return all
}

func matcher(pattern string) *regexp.Regexp {
	if pattern == "" {
		pattern = "*"
	}
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$")
}

// unexplained are the differences that no entry speaks of. The entries that speak of
// others are marked as used.
func unexplained(explanations []*explanation, name string, found []difference) []difference {
	return slices.DeleteFunc(slices.Clone(found), func(d difference) bool {
		explained := false
		for _, e := range explanations {
			if e.explains(name, d) {
				e.used, explained = true, true
			}
		}
		return explained
	})
}
