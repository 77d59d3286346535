// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package man

import (
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

// section is what a command says of itself. Texts of programs are shown as they are: they are no Markdown.
func section(command *cobra.Command) string {
	var page strings.Builder
	fmt.Fprintf(&page, "## %s\n\n", command.CommandPath())
	for _, text := range []string{command.Long, usage(command), command.Example} {
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
		fmt.Fprintf(&page, "| `--%s` | %s | %s |\n", flag.Name, quoted(flag.DefValue), escaped(flag.Usage))
	})
	return page.String()
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
	return "`" + strings.ReplaceAll(value, "|", `\|`) + "`"
}

// escaped is a text in a table of a page that Vue reads.
func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", "<br>", "{{", "{&#8203;{", "*", `\*`, "[", `\[`).Replace(text)
}
