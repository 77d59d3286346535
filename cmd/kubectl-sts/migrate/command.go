// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"statefulset.dev/cmd/kubectl-sts/target"
)

// NewCommand returns the command that moves sets from apps/v1 to our group, and back. The getter
// must access the cluster without the adapter, so that apps/v1 means apps/v1.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	m := &mover{streams: streams}
	command := &cobra.Command{
		Use:   "migrate (NAME... | -l SELECTOR)",
		Short: "Move StatefulSets from apps/v1 to apps.statefulset.dev, or back, without restarting a pod",
		Long: `Move StatefulSets from apps/v1 to apps.statefulset.dev/v1 without restarting a pod.

The set keeps its name, pods, claims, revisions and history, also in the middle of an update. The command checks
everything that could prevent the move before it changes anything. To complete an interrupted move, run the same
command again; to undo it, use --undo.`,
		Example: `  # Show what would be done
  kubectl sts migrate web --dry-run

  # Move one set
  kubectl sts migrate web

  # Move all sets of an application, one after the other
  kubectl sts migrate -l app=shop -n shop

  # Go back to apps/v1
  kubectl sts migrate web --back

  # Undo an interrupted move
  kubectl sts migrate web --undo`,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, names []string) error {
			if err := m.complete(getter, names); err != nil {
				return err
			}
			return m.run(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&m.selector, "selector", "l", "", "move the sets that match this label selector, instead of named sets")
	flags.BoolVarP(&m.everywhere, "all-namespaces", "A", false, "with --selector, move the sets of all namespaces")
	flags.BoolVar(&m.back, "back", false, "move from apps.statefulset.dev/v1 to apps/v1")
	flags.BoolVar(&m.undo, "undo", false, "undo a move that was interrupted")
	flags.BoolVar(&m.dryRun, "dry-run", false, "check everything and print the steps, but change nothing")
	flags.BoolVar(&m.allowManaged, "allow-managed", false, "also move sets that Argo CD, Flux or Helm deploys")
	flags.BoolVar(&m.dropExtraFields, "drop-extra-fields", false, "with --back, drop the fields that apps/v1 does not have")
	flags.DurationVar(&m.patience, "timeout", 2*time.Minute, "how long each step may take")
	return command
}

// complete checks the flags and connects to the cluster.
func (m *mover) complete(getter genericclioptions.RESTClientGetter, names []string) error {
	switch {
	case len(names) == 0 && m.selector == "":
		return fmt.Errorf("name the sets to move, or select them with --selector")
	case len(names) > 0 && m.selector != "":
		return fmt.Errorf("names (%q) and --selector %q cannot be combined", names, m.selector)
	case m.everywhere && m.selector == "":
		return fmt.Errorf("--all-namespaces requires --selector")
	case m.back && m.undo:
		return fmt.Errorf("--back and --undo cannot be combined: --undo reverts the interrupted move, in either direction")
	case m.dropExtraFields && !m.back:
		return fmt.Errorf("--drop-extra-fields requires --back: apps.statefulset.dev has every field of apps/v1")
	case m.patience <= 0:
		return fmt.Errorf("--timeout must be more than zero, is %s", m.patience)
	}
	m.names = names
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	m.namespace = aim.Namespace
	m.cluster, err = connect(aim.Config)
	return err
}
