// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"statefulset.dev/apiserver/recovery"
	"statefulset.dev/apiserver/storage"
)

func newCheckCommand() *cobra.Command {
	var file, prefix, scratch, output string
	command := &cobra.Command{
		Use:   "check --from=FILE",
		Short: "Restore a backup into a temporary directory, and say what it holds",
		Long: "Restores a backup into a temporary directory, which is removed again, and says how many keys it\n" +
			"holds, and at which revision of etcd. Fails if the backup was damaged or cut off.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return errors.New(`--from is "": name the backup to check`)
			}
			if output != "" && output != "json" {
				return fmt.Errorf("--output is %q, must be json or empty", output)
			}
			found, err := recovery.Check(cmd.Context(), file, prefix, scratch)
			if err != nil {
				return err
			}
			if output == "json" {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s can be restored: %s\n", file, found)
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&file, "from", "", "Backup to check.")
	flags.StringVar(&prefix, "etcd-prefix", storage.Prefix, "Prefix of the server's keys.")
	flags.StringVar(&scratch, "scratch", os.TempDir(), "Directory with room for the store.")
	flags.StringVar(&output, "output", "", "Empty, or json for programs.")
	return command
}
