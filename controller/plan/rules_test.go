// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

func TestThePackageCommentListsTheRulesInTheirOrder(t *testing.T) {
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatalf("reading the package comment: %v", err)
	}
	var got, want []string
	for _, line := range regexp.MustCompile(`(?m)^//\t(\S+( \S+)*)  +\S`).FindAllStringSubmatch(string(comment), -1) {
		got = append(got, line[1])
	}
	for _, rule := range rules() {
		want = append(want, rule.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the package comment lists the rules\n%q\nwant\n%q", got, want)
	}
}
