// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// explained is the file in which a suite explains the expected differences.
const explained = "differences.yaml"

// Explanations reads the entries of differences.yaml in the suite's directory, and checks each.
func Explanations[E any](t testing.TB, check func(E) error) []E {
	t.Helper()
	content, err := os.ReadFile(explained)
	if err != nil {
		t.Fatalf("reading the explained differences: %v", err)
	}
	var all []E
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		t.Fatalf("reading %s: %v", explained, err)
	}
	for i, e := range all {
		if err := check(e); err != nil {
			t.Fatalf("%s: entry %d (%+v): %v", explained, i+1, e, err)
		}
	}
	return all
}

// Pattern returns a regular expression that matches a whole text, with * for any text.
func Pattern(text string) *regexp.Regexp {
	parts := strings.Split(text, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$")
}
