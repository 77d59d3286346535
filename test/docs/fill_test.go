//go:build docs

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"statefulset.dev/test/docs/page"
)

// fill writes what commands print into the pages, in the place of a line that is "?".
var fill = flag.Bool("fill", false, "write what commands print in the place of a line that is ?")

// asked says that the output of a command is to be written into the page.
func asked(c page.Command) bool { return *fill && slices.Equal(c.Want, []string{"?"}) }

// answer runs such a command, and keeps what it prints. A cluster is given time to come to rest, because nobody knows what is
// waited for.
func (r *reader) answer(ctx context.Context, c page.Command) {
	if c.Repeatable() {
		select {
		case <-ctx.Done():
		case <-time.After(10 * pause):
		}
	}
	got, _ := r.shell(ctx, c.Text)
	r.answers = append(r.answers, answer{line: c.Line + strings.Count(c.Text, "\n") + 1, text: strings.TrimRight(got, "\n ")})
}

// answer is what is to stand in a page at a line.
type answer struct {
	line int
	text string
}

// write puts the answers into the page.
func (r *reader) write(t *testing.T, path string) {
	t.Helper()
	if len(r.answers) == 0 {
		return
	}
	name := filepath.Join(root, filepath.FromSlash(path))
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	for _, a := range slices.Backward(r.answers) {
		was := lines[a.line-1]
		indent := was[:len(was)-len(strings.TrimLeft(was, " "))]
		var now []string
		if a.text != "" {
			for line := range strings.SplitSeq(a.text, "\n") {
				now = append(now, indent+strings.TrimRight(line, " "))
			}
		}
		lines = slices.Replace(lines, a.line-1, a.line, now...)
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}
