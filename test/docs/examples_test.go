// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An example that nobody finds, or that nothing runs, is soon none.
func TestEveryExampleIsListedAndRun(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join(root, "artifacts", "examples", "*.yaml"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("listing examples: got %d, %v, want some", len(examples), err)
	}
	pages, tests := contents(t, "docs", ".md"), contents(t, "test", "_test.go")+contents(t, "hack", ".sh")
	for _, example := range examples {
		name := filepath.Base(example)
		if !strings.Contains(pages, "artifacts/examples/"+name+")") {
			t.Errorf("%s is not linked from docs", name)
		}
		if !strings.Contains(tests, name) {
			t.Errorf("%s is named by no test of test and no script of hack", name)
		}
	}
}

// contents are those of all files below a directory whose names end so.
func contents(t *testing.T, dir, ending string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ending) {
			return err
		}
		content, err := os.ReadFile(path)
		all.Write(content)
		return err
	})
	if err != nil {
		t.Fatalf("reading %s: %v", dir, err)
	}
	return all.String()
}
