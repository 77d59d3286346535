// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"statefulset.dev/cmd/kubectl-sts/target"
)

// NewCommand returns the command that shows a set as a tree. The getter must access the cluster
// without the adapter.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	var watch bool
	command := &cobra.Command{
		Use:   "tree NAME",
		Short: "Show a StatefulSet with its revisions, members and claims",
		Long: `Show a StatefulSet of apps.statefulset.dev with its revisions, its members in the order of their ordinals, their pods,
claims and nodes, its progress, and what it waits for.

With --watch, keep the tree up to date until the user quits. If the output is not a terminal, print changes line by line
instead, until the set is deleted.`,
		Example: `  # Show a set once
  kubectl sts tree web

  # Follow a rollout
  kubectl sts tree web -w`,
		Args:         cobra.ExactArgs(1),
		SilenceUsage: true,
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return show(ctx, getter, streams, args[0], watch)
		},
	}
	command.Flags().BoolVarP(&watch, "watch", "w", false, "keep the tree up to date")
	return command
}

func show(ctx context.Context, getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams, name string,
	watch bool) error {
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := open(ctx, aim.Config, aim.Namespace, name)
	if err != nil {
		return err
	}
	if err := source.run(ctx); err != nil {
		return err
	}
	switch width, terminal := terminalWidth(streams.Out); {
	case watch && terminal:
		return showLive(ctx, source, streams.In, streams.Out)
	case watch:
		return printChanges(ctx, source, streams.Out)
	default:
		// lipgloss.Fprintln removes colours that the output does not support.
		_, err := lipgloss.Fprintln(streams.Out, render(source.state(), frame{width: width}))
		return err
	}
}

func terminalWidth(out io.Writer) (width int, terminal bool) {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return widest, false
	}
	if width, _, err := term.GetSize(file.Fd()); err == nil && width > 0 {
		return width, true
	}
	return widest, true
}
