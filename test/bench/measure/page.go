// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"
	"strings"
)

// The lines that enclose a run in a page.
const (
	pageBegin = "<!-- begin: written by make bench-page -->"
	pageEnd   = "<!-- end -->"
)

// Insert replaces the text between the two marks of a page.
func Insert(page, text string) (string, error) {
	before, rest, begins := strings.Cut(page, pageBegin+"\n")
	_, after, ends := strings.Cut(rest, pageEnd)
	if !begins || !ends {
		return "", fmt.Errorf("the page must have a line %q and, below it, a line %q", pageBegin, pageEnd)
	}
	return before + pageBegin + "\n\n" + strings.TrimSpace(text) + "\n\n" + pageEnd + after, nil
}
