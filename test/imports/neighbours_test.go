// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	shownByTest   = regexp.MustCompile(`\[(row )?([^\]]+)\]\(\.\./(test/[^)]+)\)`)
	shownBySource = regexp.MustCompile("`([a-z0-9.]+/[^@`]+)@([^/`]+)/([^:#`]+)([:#])([A-Za-z0-9]+)`")
)

// TestEveryNeighbourIsShown checks the table of docs/neighbours.md: each row has a known result, and names a test
// that exists or a source. Of a source that is in the module cache, the line is there.
func TestEveryNeighbourIsShown(t *testing.T) {
	const page = "docs/neighbours.md"
	content, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	modules, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatalf("finding the module cache: %v", err)
	}
	rows := 0
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| who |") {
			continue
		}
		rows++
		cells := strings.Split(line, "|")
		if len(cells) != 7 {
			t.Errorf("%s: got %d columns, want 5: %s", page, len(cells)-2, line)
			continue
		}
		who, result, shown := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[3]), cells[5]
		if known := []string{"works", "works with this setting", "does not"}; !slices.Contains(known, result) {
			t.Errorf("%s: %s: got the result %q, want one of %q", page, who, result, known)
		}
		tests, sources := shownByTest.FindAllStringSubmatch(shown, -1), shownBySource.FindAllStringSubmatch(shown, -1)
		if parts := len(strings.Split(strings.TrimSpace(shown), ", ")); parts != len(tests)+len(sources) {
			t.Errorf("%s: %s: got %d tests and %d sources in %d parts of %q, want each part to be one", page, who, len(tests), len(sources), parts,
				shown)
		}
		for _, found := range tests {
			mentionsTest(t, who, found[2], found[3], found[1] != "")
		}
		for _, found := range sources {
			hasLine(t, who, filepath.Join(strings.TrimSpace(string(modules)), found[1]+"@"+found[2]), found[3], found[4], found[5])
		}
	}
	if rows < 15 {
		t.Errorf("%s has %d rows, want the table of at least 15", page, rows)
	}
}

// mentionsTest reports a test, or a row of a table of tests, that a file does not have.
func mentionsTest(t *testing.T, who, name, file string, row bool) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Errorf("%s: %v", who, err)
		return
	}
	want := "\nfunc " + name + "(t *testing.T) {"
	if row {
		want = "\n- name: " + name + "\n"
	}
	if !bytes.Contains(content, []byte(want)) {
		t.Errorf("%s: %s has no %q", who, file, strings.TrimSpace(want))
	}
}

// hasLine reports a file that a module does not have, or that is too short. A module that is not in the cache is not
// judged, nor is a function that is named in the place of a line.
func hasLine(t *testing.T, who, module, file, kind, place string) {
	t.Helper()
	number, err := strconv.Atoi(place)
	if (err == nil) != (kind == ":") {
		t.Errorf("%s: got %s%s after %s, want a line after : and a function after #", who, kind, place, file)
		return
	}
	if _, absent := os.Stat(module); absent != nil {
		return
	}
	content, err := os.ReadFile(filepath.Join(module, file))
	if err != nil {
		t.Errorf("%s: %v", who, err)
	}
	if lines := bytes.Count(content, []byte("\n")); kind == ":" && (number < 1 || number > lines) {
		t.Errorf("%s: %s has %d lines, want line %d", who, file, lines, number)
	}
}
