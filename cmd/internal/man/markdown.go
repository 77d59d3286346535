// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package man

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// markdown writes the pages of commands for the documentation site into the directory in
// COMMAND_PAGES. It does nothing if COMMAND_PAGES is empty.
func markdown(t *testing.T, root *cobra.Command) {
	t.Helper()
	dir := os.Getenv("COMMAND_PAGES")
	if dir == "" {
		return
	}
	each(root, func(command *cobra.Command) {
		name := filepath.Join(dir, strings.ReplaceAll(command.CommandPath(), " ", "-")+".md")
		if err := os.WriteFile(name, []byte(section(command)), 0o644); err != nil { //nolint:gosec // the user who runs the test chooses the directory
			t.Errorf("writing the page of %q: %v", command.CommandPath(), err)
		}
	})
}

// section returns the page of a command: its description, usage, examples and flags.
func section(command *cobra.Command) string {
	var page strings.Builder
	fmt.Fprintf(&page, "## %s\n\n", command.CommandPath())
	page.WriteString(prose(cmp.Or(command.Long, command.Short)))
	for _, text := range []string{usage(command), command.Example} {
		if text = strings.Trim(text, "\n"); strings.TrimSpace(text) != "" {
			fmt.Fprintf(&page, "```text\n%s\n```\n\n", text)
		}
	}
	row := "| flag | default | |\n|---|---|---|\n"
	command.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Deprecated != "" {
			return
		}
		page.WriteString(row)
		row = ""
		fmt.Fprintf(&page, "| `--%s` | %s | %s |\n", flag.Name, quoted(flag.DefValue), strings.ReplaceAll(escaped(flag.Usage), "\n", "<br>"))
	})
	return page.String()
}

// prose formats a text of paragraphs. It does not change the line breaks of a text with indented
// lines.
func prose(text string) string {
	text = strings.Trim(text, "\n")
	if strings.Contains(text, "\n  ") {
		return "```text\n" + text + "\n```\n\n"
	}
	var paragraphs strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		paragraphs.WriteString(escaped(strings.TrimSpace(line)) + "\n")
	}
	return paragraphs.String() + "\n"
}

func usage(command *cobra.Command) string {
	if !command.Runnable() {
		return ""
	}
	return command.UseLine()
}

func quoted(value string) string {
	if value == "" || value == "[]" || strings.ContainsAny(value, "`\n") {
		return ""
	}
	// The home directory of the user who builds the pages is of no use to readers.
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		value = strings.ReplaceAll(value, home, "~")
	}
	return "`" + strings.ReplaceAll(value, "|", `\|`) + "`"
}

// escaped escapes a text for a page, or for a table in it, which Vue compiles.
func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "{{", "{&#8203;{", "*", `\*`, "[", `\[`).Replace(text)
}
