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
	rotated = `%[1]s signs for the %[3]s from now on. All members and servers get a certificate from it within three minutes, and no
request fails.
Next, restart all members of the store and all servers, so that they read which CAs to trust, and wait:
  kubectl --namespace=%[2]s rollout restart statefulset/statefulset-apiserver-etcd deployment/statefulset-apiserver
  kubectl --namespace=%[2]s rollout status statefulset/statefulset-apiserver-etcd
  kubectl --namespace=%[2]s rollout status deployment/statefulset-apiserver
Then run this again with --finish.
`
	finished = `%[1]s is the only CA of the %[3]s. Running processes trust its predecessor until you restart them:
  kubectl --namespace=%[2]s rollout restart statefulset/statefulset-apiserver-etcd deployment/statefulset-apiserver
`
)

func newRotateCommand() *cobra.Command {
	var kubeconfig, of string
	namespace, finish := "statefulset-system", false
	command := &cobra.Command{
		Use:   "rotate-authority --of=peers|clients",
		Short: "Replace the certificate authority (CA) of the members of a store, or of its clients",
		Long: "Creates another CA while all members and servers run. The CA of the peers signs the certificates\n" +
			"that members present to each other. The CA of the clients signs the client certificates of servers\n" +
			"and the serving certificates of members. The old CA is trusted until you run this again with\n" +
			"--finish; so is the only CA of versions that had one. Prints what to do next. Run it in the\n" +
			"container of a member.",
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
	command.Flags().StringVar(&of, "of", of, "CA to replace: peers or clients.")
	command.Flags().BoolVar(&finish, "finish", finish, "Make processes that start from now on trust only the new CA.")
	command.Flags().StringVar(&namespace, "store-note-namespace", namespace,
		"Namespace of the host cluster with the note and the Secrets of the store.")
	command.Flags().StringVar(&kubeconfig, "kubeconfig", kubeconfig,
		"Kubeconfig of the host cluster. Without it, the cluster that this process runs in.")
	return command
}
