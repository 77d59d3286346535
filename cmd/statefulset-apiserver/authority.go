// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/store/certificates"
)

const (
	rotated = `%[1]s signs for the %[3]s from now on. All members and servers take a certificate of it within three minutes, and no
request fails.
Next, restart all members of the store and all servers, so that they read whom to trust, and wait:
  kubectl --namespace=%[2]s rollout restart statefulset/statefulset-apiserver-etcd deployment/statefulset-apiserver
  kubectl --namespace=%[2]s rollout status statefulset/statefulset-apiserver-etcd
  kubectl --namespace=%[2]s rollout status deployment/statefulset-apiserver
Then run this again with --finish.
`
	finished = `%[1]s is the only authority of the %[3]s. Processes that run trust its predecessor until they are restarted:
  kubectl --namespace=%[2]s rollout restart statefulset/statefulset-apiserver-etcd deployment/statefulset-apiserver
`
)

func newRotateCommand() *cobra.Command {
	var kubeconfig, of string
	namespace, finish := "statefulset-system", false
	command := &cobra.Command{
		Use:   "rotate-authority --of=peers|clients",
		Short: "Have another authority sign the certificates of the members of a store, or of its clients",
		Long: "Creates another authority while all members and servers run. The authority of the peers signs what\n" +
			"members show each other; that of the clients signs what servers show to members, and what members\n" +
			"serve them with. The predecessor is trusted until this is run again with --finish, and so is the one\n" +
			"authority of versions that had only one. Prints what to do next. Run it in the container of a member.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			authority, err := certificates.ParseAuthority(of)
			if err != nil {
				return fmt.Errorf("--of is %w", err)
			}
			host, err := hostcluster.New(kubeconfig)
			if err != nil {
				return err
			}
			act, next := certificates.Rotate, rotated
			if finish {
				act, next = certificates.Finish, finished
			}
			name, err := act(cmd.Context(), authority, host.Client.CoreV1().Secrets(namespace), namespace, time.Now())
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), next, name, namespace, authority)
			return nil
		},
	}
	command.Flags().StringVar(&of, "of", of, "Which authority: peers or clients.")
	command.Flags().BoolVar(&finish, "finish", finish, "Let no process that starts from now on trust the predecessor.")
	command.Flags().StringVar(&namespace, "store-note-namespace", namespace,
		"Namespace of the host cluster that holds what it knows of the store.")
	command.Flags().StringVar(&kubeconfig, "kubeconfig", kubeconfig,
		"Kubeconfig of the host cluster. Without it, the cluster that this process runs in.")
	return command
}
