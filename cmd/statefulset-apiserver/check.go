// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"statefulset.dev/store/backend"
	"statefulset.dev/store/backup"
	"statefulset.dev/store/recovery"
)

func newCheckCommand() *cobra.Command {
	var file, prefix, scratch, output, keyFile string
	var trust recovery.Trust
	command := &cobra.Command{
		Use:   "check --from=FILE",
		Short: "Restore a backup into a temporary directory, and print what it contains",
		Long: "Restores a backup into a temporary directory, which it then removes. Prints how many keys the backup\n" +
			"contains, at which revision of etcd, and which key signed it. Fails if the backup is damaged,\n" +
			"truncated, forged, or signed under another name.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return errors.New(`--from is "": name the backup to check`)
			}
			if output != "" && output != "json" {
				return fmt.Errorf("--output is %q, must be json or empty", output)
			}
			var err error
			if trust.Keys, err = backup.ReadKeys(keyFile); err != nil {
				return err
			}
			found, by, err := recovery.Check(cmd.Context(), file, prefix, scratch, trust)
			if err != nil {
				return err
			}
			if output == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			said := fmt.Sprintf("verified as %s", by.Origin)
			if by.Unverified != nil {
				said = fmt.Sprintf("only with --accept-unauthenticated: %v", by.Unverified)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s can be restored: %s; %s\n", file, found, said)
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&file, "from", "", "Backup to check.")
	backup.AddKeyFile(flags, &keyFile)
	addName(flags, &trust)
	flags.StringVar(&prefix, "etcd-prefix", backend.Prefix, "Prefix of the server's keys.")
	flags.StringVar(&scratch, "scratch", os.TempDir(), "Directory with room for the store.")
	flags.StringVar(&output, "output", "", "Empty, or json for programs.")
	return command
}
