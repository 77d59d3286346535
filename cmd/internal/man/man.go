// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package man writes the man pages of a program in a test of the program, because only its own
// package knows its commands.
package man

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// Check writes a page for each command, and checks that it has all flags. A release sets three
// variables: MAN_PAGES is the directory of the pages, MAN_DATE and MAN_VERSION are the date and the
// version in the pages.
func Check(t *testing.T, root *cobra.Command) {
	t.Helper()
	date, err := time.Parse(time.RFC3339, cmp.Or(os.Getenv("MAN_DATE"), "2026-01-01T00:00:00Z"))
	if err != nil {
		t.Fatalf("MAN_DATE: %v", err)
	}
	dir := cmp.Or(os.Getenv("MAN_PAGES"), t.TempDir())
	each(root, func(command *cobra.Command) { command.DisableAutoGenTag = true })
	err = doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{
		Path: dir, CommandSeparator: "-",
		Header: &doc.GenManHeader{Section: "1", Date: &date, Source: os.Getenv("MAN_VERSION"), Manual: "statefulset-apiserver"},
	})
	if err != nil {
		t.Fatalf("writing man pages: %v", err)
	}
	each(root, func(command *cobra.Command) { checkPage(t, dir, command) })
	markdown(t, root)
}

// each visits the commands that the help shows to users.
func each(command *cobra.Command, visit func(*cobra.Command)) {
	visit(command)
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			each(c, visit)
		}
	}
}

func checkPage(t *testing.T, dir string, command *cobra.Command) {
	t.Helper()
	name := strings.ReplaceAll(command.CommandPath(), " ", "-")
	page, err := os.ReadFile(filepath.Join(dir, name+".1")) //nolint:gosec // the user who runs the test chooses the directory
	if err != nil {
		t.Errorf("the page of %q: %v", command.CommandPath(), err)
		return
	}
	text := strings.ReplaceAll(string(page), `\-`, "-")
	command.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Deprecated == "" && !strings.Contains(text, "--"+flag.Name) {
			t.Errorf("the page of %q: got no --%s, want all of its flags", command.CommandPath(), flag.Name)
		}
	})
}
