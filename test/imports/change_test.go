// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePageOfChangesNamesWhatThereIs holds the page "Change something" to the tree: each file and directory that it
// names is there.
func TestThePageOfChangesNamesWhatThereIs(t *testing.T) {
	const page = "docs/change.md"
	content, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(string(content), -1) {
		name := span[1]
		if !strings.Contains(name, "/") && name != "CHANGELOG.md" || strings.Contains(name, " ") {
			continue
		}
		names++
		if found, err := filepath.Glob(filepath.Join(root, name)); err != nil || len(found) == 0 {
			t.Errorf("%s names %s, which is not there", page, name)
		}
	}
	if names < 40 {
		t.Errorf("%s names %d files, want at least 40: the test finds none of the others", page, names)
	}
}
