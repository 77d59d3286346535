// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	page  = "../../docs/kubectl.md"
	begin = "<!-- rows of test/kubectl -->\n"
	end   = "<!-- end of rows -->\n"
)

// TestDocumentationSaysWhatTheRowsShow holds the table of the documentation to the rows and explanations that the suite
// is run with.
func TestDocumentationSaysWhatTheRowsShow(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("reading the documentation: %v", err)
	}
	_, rest, found := strings.Cut(string(content), begin)
	got, _, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no table between %q and %q", page, begin, end)
	}
	if want := table(readRows(t), readExplanations(t)); got != want {
		t.Errorf("the table in %s is\n%s\nwant\n%s", page, got, want)
	}
}

func table(rows []row, explanations []explanation) string {
	var text strings.Builder
	text.WriteString("| what | plain kubectl | kubectl sts | remarks |\n|---|---|---|---|\n")
	for _, r := range rows {
		plain, plugin, remarks := r.Plain, same, []string{}
		if r.Note != "" {
			remarks = append(remarks, r.Note)
		}
		for _, e := range explanations {
			if e.Row != r.Name {
				continue
			}
			if slices.Contains(e.Sides, "plain") {
				plain = "works"
			}
			if slices.Contains(e.Sides, "plugin") {
				plugin = "works"
			}
			if !slices.Contains(remarks, e.Reason) {
				remarks = append(remarks, e.Reason)
			}
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", r.Name, plain, plugin, strings.Join(remarks, "; "))
	}
	return text.String()
}
