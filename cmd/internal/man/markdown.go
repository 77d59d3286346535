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

// markdown writes the pages of commands for the documentation site, into the directory that COMMAND_PAGES says, if it says one.
func markdown(t *testing.T, root *cobra.Command) {
	t.Helper()
	dir := os.Getenv("COMMAND_PAGES")
	if dir == "" {
		return
	}
	each(root, func(command *cobra.Command) {
		name := filepath.Join(dir, strings.ReplaceAll(command.CommandPath(), " ", "-")+".md")
		if err := os.WriteFile(name, []byte(section(command)), 0o644); err != nil { //nolint:gosec // who runs the test says where pages go
			t.Errorf("writing the page of %q: %v", command.CommandPath(), err)
		}
	})
}

// section is what a command says of itself.
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

// prose is a text of paragraphs; one in which lines are laid out stays as it is.
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
	// Where the home of somebody is is of no use to others.
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		value = strings.ReplaceAll(value, home, "~")
	}
	return "`" + strings.ReplaceAll(value, "|", `\|`) + "`"
}

// escaped is a text in a page, or in a table of it, that Vue reads.
func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "{{", "{&#8203;{", "*", `\*`, "[", `\[`).Replace(text)
}
