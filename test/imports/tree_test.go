// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	treeRow = regexp.MustCompile("(?m)^\\| `([^`]+)/` \\| (.*) \\|$")
	named   = regexp.MustCompile("`([\\w/.-]+)/`")
)

// ownTree are directories of which the table of the tree tells in one row, whatever is below them: what is
// generated, and each suite with its parts.
var ownTree = regexp.MustCompile(`^(client|sdk|test/[^/]+)/`)

// TestTheTreeNamesEveryRoom holds the table of docs/architecture.md to the directories that have Go code:
// each has a row, or the row of the one above it names it.
func TestTheTreeNamesEveryRoom(t *testing.T) {
	const page = "docs/architecture.md"
	content, err := os.ReadFile(root + "/" + page)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, row := range treeRow.FindAllStringSubmatch(string(content), -1) {
		told[row[1]] = true
		for _, below := range named.FindAllStringSubmatch(row[2], -1) {
			told[row[1]+"/"+below[1]] = true
		}
	}
	if len(told) < 50 {
		t.Fatalf("found only %d rooms in the table of %s", len(told), page)
	}
	for room := range told {
		if about, err := os.Stat(root + "/" + room); err != nil || !about.IsDir() {
			t.Errorf("%s tells of %s/, which is no directory", page, room)
		}
	}
	rooms := map[string]bool{}
	eachGoFile(t, func(file string, _ []byte) {
		room := path.Dir(file)
		if own := ownTree.FindString(room); own != "" {
			room = path.Clean(own)
		}
		if !strings.Contains(room, "/testdata") {
			rooms[room] = true
		}
	})
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		if !told[room] {
			t.Errorf("%s tells nothing of %s/", page, room)
		}
	}
}
