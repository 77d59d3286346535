// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package seeds

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is where the files of bugs are named from.
const root = "../../.."

// bug is one change of the source that makes it wrong.
type bug struct {
	name, what, file string
	edits            []edit
	harmless         bool
	// theme is that of the random sequences whose outcomes show the bug, empty if the simulator has to
	// find it.
	theme string
}

// edit is a text that is replaced.
type edit struct{ old, new string }

func readBugs(t *testing.T) []bug {
	t.Helper()
	paths, err := filepath.Glob("bugs/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("looking for bugs: found %d, error %v", len(paths), err)
	}
	all := make([]bug, 0, len(paths))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("reading a bug: %v", err)
		}
		b, err := parseBug(strings.TrimSuffix(filepath.Base(path), ".txt"), string(content))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, b)
	}
	return all
}

func parseBug(name, content string) (bug, error) {
	parts := strings.Split(strings.TrimSuffix(content, "\n"), "\n----\n")
	head := strings.Split(parts[0], "\n")
	if len(parts) < 3 || len(parts)%2 == 0 || len(head) < 2 || len(head) > 3 {
		return bug{},
			fmt.Errorf("want a sentence, the name of a file, perhaps a theme, and each text to replace and its new text, all after a line ----")
	}
	b := bug{name: name, what: head[0], file: head[1]}
	for i := 1; i < len(parts); i += 2 {
		b.edits = append(b.edits, edit{parts[i], parts[i+1]})
	}
	if len(head) == 3 {
		theme, is := strings.CutPrefix(head[2], "outcomes: ")
		if !is {
			return bug{}, fmt.Errorf("the third line is %q: want \"outcomes: \" and a theme of TestOutcomes", head[2])
		}
		b.theme = theme
	}
	b.what, b.harmless = strings.CutPrefix(b.what, "harmless: ")
	return b, nil
}

// applied is the file with the bug in it.
func (b bug) applied() (string, error) {
	content, err := os.ReadFile(filepath.Join(root, b.file))
	if err != nil {
		return "", fmt.Errorf("reading the file of a bug: %w", err)
	}
	text := string(content)
	for _, e := range b.edits {
		if n := strings.Count(text, e.old); n != 1 {
			return "", fmt.Errorf("%s has the text to replace %d times, want once:\n%s", b.file, n, e.old)
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	return text, nil
}

func TestEveryBugApplies(t *testing.T) {
	for _, b := range readBugs(t) {
		if _, err := b.applied(); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}
