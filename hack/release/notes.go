// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// unreleased is the heading of the changes of the next version.
const unreleased = "Unreleased"

// notes writes the section of the changelog about this version.
func (r *release) notes(context.Context) error {
	changes, err := r.changes()
	if err != nil {
		return err
	}
	return r.write("NOTES.md", []byte("# "+r.version+"\n\n"+changes+"\n"))
}

// changes returns the section of the changelog about this version. For a pre-release, that may be
// the section of unreleased changes.
func (r *release) changes() (string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return "", fmt.Errorf("reading the changelog: %w", err)
	}
	headings := []string{strings.TrimSuffix(r.number(), uncheckedSuffix)}
	if strings.Contains(r.version, "-") {
		headings = append(headings, unreleased)
	}
	for _, heading := range headings {
		if section := sectionOf(string(text), heading); section != "" {
			return section, nil
		}
	}
	return "", fmt.Errorf("CHANGELOG.md has no entries below %q", "## ["+strings.Join(headings, `]" or "## [`)+"]")
}

// sectionOf returns the text below a heading such as "## [1.2.3] - 2026-11-22".
func sectionOf(changelog, heading string) string {
	var section []string
	inside := false
	for line := range strings.SplitSeq(changelog, "\n") {
		if strings.HasPrefix(line, "## ") {
			inside = strings.HasPrefix(line, "## ["+heading+"]")
			continue
		}
		if inside {
			section = append(section, line)
		}
	}
	return strings.TrimSpace(strings.Join(section, "\n"))
}
