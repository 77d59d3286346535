// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package man

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestSection(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	root := &cobra.Command{Use: "kubectl-sts"}
	command := &cobra.Command{Use: "plan NAME", Long: "Says what happens to <NAME>.\n\n Changes nothing.", Example: "  kubectl sts plan db",
		Run: func(*cobra.Command, []string) {}}
	command.Flags().String("cache", "/home/ann/.cache", "Where, or a|b.")
	command.Flags().Bool("old", false, "")
	if err := command.Flags().MarkDeprecated("old", "use --new"); err != nil {
		t.Fatal(err)
	}
	root.AddCommand(command)
	const want = "## kubectl-sts plan\n\nSays what happens to &lt;NAME>.\n\nChanges nothing.\n\n" +
		"```text\nkubectl-sts plan NAME [flags]\n```\n\n```text\n  kubectl sts plan db\n```\n\n" +
		"| flag | default | |\n|---|---|---|\n| `--cache` | `~/.cache` | Where, or a\\|b. |\n"
	if got := section(command); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTextThatIsLaidOutStaysAsItIs(t *testing.T) {
	const text = "Columns:\n  a  b"
	if got, want := prose(text), "```text\n"+text+"\n```\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
