// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	target = regexp.MustCompile(`(?m)^([a-z-]+):.* ## `)
	parts  = regexp.MustCompile(`(?m)^ALL=\(([a-z ]+)\)$`)
)

// TestContributingNamesEveryTarget compares the page with what make help lists, and with the parts of make
// test.
func TestContributingNamesEveryTarget(t *testing.T) {
	read := func(file string) string {
		content, err := os.ReadFile(root + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	page := read("CONTRIBUTING.md")
	targets := target.FindAllStringSubmatch(read("Makefile"), -1)
	all := parts.FindStringSubmatch(read("hack/test.sh"))
	if len(targets) == 0 || all == nil {
		t.Fatalf("found %d targets in Makefile, and the parts %q in hack/test.sh", len(targets), all)
	}
	for _, found := range targets {
		if !regexp.MustCompile(`\bmake ` + found[1] + "[ `\n]").MatchString(page) {
			t.Errorf("CONTRIBUTING.md tells nothing of make %s", found[1])
		}
	}
	for part := range strings.FieldsSeq(all[1]) {
		if !strings.Contains(page, "\n| `"+part+"` | ") {
			t.Errorf("CONTRIBUTING.md tells nothing of the part %s of make test", part)
		}
	}
}
