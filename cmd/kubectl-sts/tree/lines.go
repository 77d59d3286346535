// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"io"

	"statefulset.dev/cmd/kubectl-sts/terminal"
)

// printChanges prints a line for each change of the set or of a member, until the set is deleted or
// the context ends.
func printChanges(ctx context.Context, s *source, out io.Writer) error {
	printed := map[string]string{}
	for {
		now := s.state()
		for _, line := range summary(now) {
			if printed[line[0]] == line[1] {
				continue
			}
			printed[line[0]] = line[1]
			if _, err := fmt.Fprintf(out, "%s: %s\n", terminal.Line(line[0]), terminal.Line(line[1])); err != nil {
				return fmt.Errorf("printing: %w", err)
			}
		}
		if now.gone {
			return nil
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// summary returns one line about the set and one about each member, each with its name.
func summary(s state) [][2]string {
	word, message, _ := s.waitsFor()
	ready, updated, _, wanted := s.progress()
	text := fmt.Sprintf("%d of %d ready, %d at the update revision; %s: %s", ready, wanted, updated, word, message)
	if s.trouble != "" {
		text += "; not up to date: " + s.trouble
	}
	lines := [][2]string{{s.set.Name, text}}
	rows, _ := s.members()
	for _, row := range rows {
		if row.node == "-" && row.phase == "missing" {
			lines = append(lines, [2]string{row.name, row.phase})
			continue
		}
		line := fmt.Sprintf("%s, %s, revision %s, node %s", row.phase, row.readiness, row.revision, row.node)
		if row.claims != "" {
			line += ", " + row.claims
		}
		lines = append(lines, [2]string{row.name, line})
	}
	return lines
}
