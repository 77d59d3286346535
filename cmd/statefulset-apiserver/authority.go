// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/apiserver/storetls"
)

const (
	rotated = `%[1]s signs from now on. Everybody takes a certificate of it within two minutes, and no request fails.
Next, restart all members of the store and all servers, so that they read whom to trust, and wait:
  kubectl --namespace=%[2]s rollout restart statefulset/statefulset-apiserver-etcd deployment/statefulset-apiserver
  kubectl --namespace=%[2]s rollout status statefulset/statefulset-apiserver-etcd
  kubectl --namespace=%[2]s rollout status deployment/statefulset-apiserver
Then run this again with --finish.
`
	finished = `%[1]s is the only authority. Who runs trusts its predecessor until it is restarted:
  kubectl --namespace=%[2]s rollout restart statefulset/statefulset-apiserver-etcd deployment/statefulset-apiserver
`
)

func newRotateCommand() *cobra.Command {
	var kubeconfig string
	namespace, finish := "statefulset-system", false
	command := &cobra.Command{
		Use:   "rotate-authority",
		Short: "Have another authority sign the certificates of the members of a store and of its servers",
		Long: "Makes another authority, by which the members of the store and its servers know each other from\n" +
			"now on, while all of them run. The one before is trusted until this is run again with --finish.\n" +
			"Prints what is to be done next. Run it in the container of a member.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, err := hostcluster.New(kubeconfig)
			if err != nil {
				return err
			}
			act, next := storetls.Rotate, rotated
			if finish {
				act, next = storetls.Finish, finished
			}
			name, err := act(cmd.Context(), host.Client.CoreV1().Secrets(namespace), namespace, time.Now())
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), next, name, namespace)
			return nil
		},
	}
	command.Flags().BoolVar(&finish, "finish", finish, "Let nobody trust the authority before any more who starts from now on.")
	command.Flags().StringVar(&namespace, "store-note-namespace", namespace, "Namespace of the host cluster that holds what it knows of the store.")
	command.Flags().StringVar(&kubeconfig, "kubeconfig", kubeconfig, "Kubeconfig of the host cluster. Without it, the cluster that this process runs in.")
	return command
}
