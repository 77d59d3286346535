// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubectl/pkg/cmd/options"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/completion"
	"k8s.io/kubectl/pkg/util/templates"

	"statefulset.dev/cmd/kubectl-sts/adapter"
	"statefulset.dev/cmd/kubectl-sts/doctor"
	"statefulset.dev/cmd/kubectl-sts/evaluate"
	"statefulset.dev/cmd/kubectl-sts/install"
	"statefulset.dev/cmd/kubectl-sts/members"
	"statefulset.dev/cmd/kubectl-sts/migrate"
	"statefulset.dev/cmd/kubectl-sts/plan"
	"statefulset.dev/cmd/kubectl-sts/terminal"
	"statefulset.dev/cmd/kubectl-sts/tree"
	"statefulset.dev/cmd/kubectl-sts/uninstall"
	"statefulset.dev/cmd/kubectl-sts/versions"
)

const long = `
kubectl for StatefulSets of the group apps.statefulset.dev.

It has the commands and flags of kubectl. The names "statefulset" and "sts" mean this group. For StatefulSets of
apps/v1, write the name with its group: "statefulsets.v1.apps".`

const examples = `
  # Wait until a rollout is complete
  kubectl sts rollout status statefulset/db

  # Change an image, show the history, and revert the change
  kubectl sts set image statefulset/db db=postgres:18.1
  kubectl sts rollout history statefulset/db
  kubectl sts rollout undo statefulset/db

  # Show the conditions, members, template and events of a set
  kubectl sts describe statefulset db

  # Run a command in a member
  kubectl sts exec -it statefulset/db -- psql`

// newCommand returns "kubectl sts".
func newCommand(streams genericiooptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use:         "kubectl-sts",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl sts"},
		Short:       "kubectl for StatefulSets of the group apps.statefulset.dev",
		Long:        templates.LongDesc(long),
		Example:     templates.Examples(examples),
		RunE:        func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.PersistentPreRun = func(*cobra.Command, []string) {
		rest.SetDefaultWarningHandler(terminal.Warnings(rest.NewWarningWriter(streams.ErrOut,
			rest.WarningWriterOptions{Deduplicate: true, Color: printers.AllowsColorOutput(streams.ErrOut)})))
	}
	root.SetGlobalNormalizationFunc(cliflag.WordSepNormalizeFunc)
	cluster := clusterFlags(root, streams)
	factory := cmdutil.NewFactory(adapter.Getter(cluster))
	completeFlags(root, factory)

	groups := append(templates.CommandGroups{ownCommands(cluster, streams)}, stockCommands(cluster, factory, streams)...)
	groups.Add(root)
	root.AddCommand(options.NewCmdOptions(streams.Out))
	// The script of cobra would complete kubectl-sts, which no one types.
	root.CompletionOptions.DisableDefaultCmd = true
	templates.ActsAsRootCommand(root, nil, groups...)
	rename(root)
	return root
}

// ownCommands returns the commands that kubectl does not have. They access the cluster directly,
// without the adapter. All except the tree, which draws, get streams that escape the control
// characters in text from the cluster.
func ownCommands(cluster genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) templates.CommandGroup {
	guarded := terminal.Guard(streams)
	return templates.CommandGroup{
		Message: "Commands of this plugin:",
		Commands: []*cobra.Command{
			plan.NewCommand(cluster, guarded),
			tree.NewCommand(cluster, streams),
			doctor.NewCommand(cluster, guarded),
			members.NewReclaimCommand(cluster, guarded),
			evaluate.NewCommand(cluster, guarded),
			migrate.NewCommand(cluster, guarded),
			install.NewCommand(cluster, guarded),
			uninstall.NewCommand(cluster, guarded),
			versions.NewCommand(cluster, guarded),
		},
	}
}

// clusterFlags adds the global flags of kubectl to a command. The getter that it returns accesses
// the cluster directly, without the adapter.
func clusterFlags(root *cobra.Command, streams genericiooptions.IOStreams) genericclioptions.RESTClientGetter {
	flags := genericclioptions.NewConfigFlags(true).
		WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50).WithWarningPrinter(streams)
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1 // commands with many requests send them one after the other
		return config
	}
	flags.AddFlags(root.PersistentFlags())
	version := cmdutil.NewMatchVersionFlags(flags)
	version.AddFlags(root.PersistentFlags())
	return version
}

// completeFlags completes the values of the global flags.
func completeFlags(root *cobra.Command, factory cmdutil.Factory) {
	completion.SetFactoryForCompletion(factory)
	for flag, names := range map[string]func(typed string) []string{
		"namespace": func(typed string) []string { return completion.CompGetResource(factory, "namespace", typed) },
		"context":   completion.ListContextsInConfig,
		"cluster":   completion.ListClustersInConfig,
		"user":      completion.ListUsersInConfig,
	} {
		cmdutil.CheckErr(
			root.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
				return names(typed), cobra.ShellCompDirectiveNoFileComp
			}))
	}
}
