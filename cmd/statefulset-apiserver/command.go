// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json

	"statefulset.dev/apiserver"
	"statefulset.dev/controller"
	"statefulset.dev/store/backup"
	"statefulset.dev/version"
)

const name = "statefulset-apiserver"

// helpWidth is the width of the help text if the width of the terminal is unknown.
const helpWidth = 100

func newCommand() (*cobra.Command, error) {
	if err := logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate); err != nil {
		return nil, fmt.Errorf("registering the feature gates of logging: %w", err)
	}
	options, err := apiserver.NewOptions()
	if err != nil {
		return nil, err
	}
	options.Storage.Fatal = fatal
	logs := logsapi.NewLoggingConfiguration()
	colocated := &colocated{options: controller.NewOptions(), copies: copies{backup.NewOptions(), options}}

	command := &cobra.Command{
		Use:   name,
		Short: "Serve StatefulSets of the group apps.statefulset.dev, and run their members in a host cluster",
		Long: "Serves StatefulSets of the group apps.statefulset.dev as an aggregated API of a Kubernetes\n" +
			"cluster, and runs their members in that cluster. Without --etcd-servers it keeps its data in\n" +
			"an embedded etcd in --data-dir. To back up and restore the data, see\n" +
			name + " store --help.",
		Version:       version.Get().String(),
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := logsapi.ValidateAndApply(logs, utilfeature.DefaultFeatureGate); err != nil {
				return fmt.Errorf("applying the logging flags: %w", err)
			}
			return run(cmd.Context(), options, colocated)
		},
	}
	command.SetVersionTemplate(version.Get().Text(name))
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w; --help lists all flags", err)
	})
	addFlags(command, options, colocated, logs)
	store, err := newStoreCommand()
	if err != nil {
		return nil, err
	}
	command.AddCommand(store)
	command.CompletionOptions.DisableDefaultCmd = true
	return command, nil
}

func run(ctx context.Context, options *apiserver.Options, colocated *colocated) error {
	if err := options.Complete(); err != nil {
		return err
	}
	if err := options.Validate(); err != nil {
		return err
	}
	if err := errors.Join(append(colocated.options.Validate(), colocated.copies.validate())...); err != nil {
		return err
	}
	return apiserver.Run(ctx, options, colocated.forServer())
}

// addFlags adds all flags to the command, and a help text that lists them in sections.
func addFlags(command *cobra.Command, options *apiserver.Options, colocated *colocated, logs *logsapi.LoggingConfiguration) {
	sections := options.Flags()
	colocated.options.AddFlags(sections.FlagSet("controller"))
	colocated.copies.options.AddFlags(sections.FlagSet("backups"))
	logsapi.AddFlags(logs, sections.FlagSet("logs"))
	sections.FlagSet("global").Bool("version", false,
		"Print the version, and the versions of Kubernetes that a host cluster may have, and exit.")
	globalflag.AddGlobalFlags(sections.FlagSet("global"), name)
	for _, section := range sections.FlagSets {
		command.Flags().AddFlagSet(section)
	}
	cliflag.SetUsageAndHelpFunc(command, sections, helpWidth)
}

// oneLine formats the reasons why the command fails as one line.
func oneLine(err error) string {
	return name + ": " + strings.Join(strings.Split(strings.TrimSpace(err.Error()), "\n"), "; ")
}
