//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"testing"

	"statefulset.dev/test/harness"
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
	return harness.Explanations(t, func(e *explanation) error {
		if e.Case == "" || e.What == "" || e.Reason == "" {
			return errors.New("it needs case, what and reason")
		}
		for i, pattern := range []string{e.Case, e.What, e.Builtin, e.Ours} {
			e.matchers[i] = harness.Pattern(cmp.Or(pattern, "*"))
		}
		return nil
	})
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
