// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/store/member"
)

func newMemberCommand() *cobra.Command {
	options := member.NewOptions()
	options.Fatal = fatal
	command := &cobra.Command{
		Use:   "member",
		Short: "Run one member of the store that several servers share",
		Long: "Runs an etcd that finds the other members and bootstraps the store with them if the host cluster\n" +
			"records none. It replaces a member whose disk was lost while a majority of the disks is intact.\n" +
			"Servers connect to it with --etcd-servers and --etcd-tls-auto.",
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error { return options.Validate() },
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, err := hostcluster.New(options.Kubeconfig)
			if err != nil {
				return err
			}
			return member.Run(cmd.Context(), options, host.Client)
		},
	}
	options.AddFlags(command.Flags())
	return command
}
