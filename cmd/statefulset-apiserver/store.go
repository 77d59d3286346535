// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/apiserver/storage"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/backup"
	"statefulset.dev/store/recovery"
)

// newStoreCommand returns the commands for the store of a server.
func newStoreCommand() (*cobra.Command, error) {
	family := &cobra.Command{
		Use:   "store",
		Short: "Back up, check, restore or rebuild the store of a server, or run a member of one",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("store needs one of backup, check, restore, rebuild, member, rotate-authority and wait; see --help")
		},
	}
	for _, build := range []func(*apiserver.Options) (*cobra.Command, cliflag.NamedFlagSets){
		newBackupCommand, newRestoreCommand, newRebuildCommand} {
		options, err := apiserver.NewOptions()
		if err != nil {
			return nil, err
		}
		command, sections := build(options)
		command.Args, command.PreRunE = cobra.NoArgs, func(*cobra.Command, []string) error { return options.ValidateStore() }
		for _, section := range sections.FlagSets {
			command.Flags().AddFlagSet(section)
		}
		cliflag.SetUsageAndHelpFunc(command, sections, helpWidth)
		family.AddCommand(command)
	}
	family.AddCommand(newCheckCommand(), newMemberCommand(), newRotateCommand(), newWaitCommand())
	// The parent's help would list the flags of the server.
	family.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		out := cmd.OutOrStdout()
		if cmd != family {
			fmt.Fprintf(out, "%s\n\nUsage:\n  %s\n\n%s", cmp.Or(cmd.Long, cmd.Short), cmd.UseLine(), cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
			return
		}
		fmt.Fprintf(out, "%s\n\nUsage:\n", cmd.Short)
		for _, child := range cmd.Commands() {
			fmt.Fprintf(out, "  %s\n        %s\n", child.UseLine(), child.Short)
		}
	})
	return family, nil
}

func newBackupCommand(options *apiserver.Options) (*cobra.Command, cliflag.NamedFlagSets) {
	sections := options.StoreFlags(false)
	var keyFile string
	backup.AddKeyFile(sections.FlagSet("backup"), &keyFile)
	file := sections.FlagSet("backup").String("to", "", "File to write, which must not exist; - stands for standard output.")
	return &cobra.Command{
		Use:   "backup --to=FILE",
		Short: "Write a consistent copy of the store, also while the server runs",
		Long: "Writes a consistent copy of the store to a file, in the format of etcd's snapshots. The server\n" +
			"may be running: use the same storage flags, as the same user and on the same machine, or in the\n" +
			"same container if there is an embedded etcd.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if *file == "" {
				return errors.New(`--to is "": name the file to write, or - for standard output`)
			}
			keys, err := backup.ReadKeys(keyFile)
			if err != nil {
				return err
			}
			return recovery.Backup(cmd.Context(), options.Storage, *file, keys, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}, sections
}

func newRestoreCommand(options *apiserver.Options) (*cobra.Command, cliflag.NamedFlagSets) {
	sections := options.StoreFlags(false)
	flags := sections.FlagSet("restore")
	file := flags.String("from", "", "Backup to read; - stands for standard input.")
	var keyFile string
	var trust recovery.Trust
	backup.AddKeyFile(flags, &keyFile)
	addName(flags, &trust)
	flags.BoolVar(&trust.Unauthenticated, "accept-unauthenticated", false,
		"Restore a backup that is not signed, or signed with a key that is not in --backup-key-file. The creator of such a backup decides what the cluster runs. A forged or changed backup is refused in any case.")
	return &cobra.Command{
		Use:   "restore --from=FILE --data-dir=DIRECTORY",
		Short: "Create a data directory for the embedded etcd from a backup",
		Long: "Creates a new data directory for the embedded etcd from a backup of this program or of etcdctl.\n" +
			"A signed backup needs --backup-key-file, and any other backup --accept-unauthenticated.\n" +
			"The server serves the data only after an operator has accepted it, because all writes after the\n" +
			"backup are missing. The server prints the command for that.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if *file == "" {
				return errors.New(`--from is "": name the backup to restore`)
			}
			var err error
			if trust.Keys, err = backup.ReadKeys(keyFile); err != nil {
				return err
			}
			return recovery.Restore(cmd.Context(), options.Storage, *file, trust, cmd.InOrStdin(), cmd.ErrOrStderr())
		},
	}, sections
}

func addName(flags *pflag.FlagSet, trust *recovery.Trust) {
	flags.StringVar(&trust.Name, "name", "",
		"Original name of the backup in --backup-to, if its file has another name or it comes from standard input. A signed backup is refused under any other name.")
}

func newRebuildCommand(options *apiserver.Options) (*cobra.Command, cliflag.NamedFlagSets) {
	sections := options.StoreFlags(true)
	dryRun := sections.FlagSet("rebuild").Bool("dry-run", false, "Print what would be stored, and store nothing.")
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Recreate missing sets from the pods, claims and revisions in the host cluster",
		Long: "Recreates the sets that are missing in the store from the pods, claims and revisions that the host\n" +
			"cluster still has, with their names and UIDs. The server must be stopped. Prints each set as a\n" +
			"manifest, with comments about what it had to guess. Rebuilt sets are suspended: the controller does\n" +
			"nothing for them until you remove their annotation apps.statefulset.dev/hold.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, err := hostcluster.Connect(cmd.Context(), options.Host.CoreAPIKubeconfigPath, options.HostTimeout)
			if err != nil {
				return err
			}
			unserved := storage.NewUnserved()
			server := recovery.Server{
				Open:     func(o *backend.Options) (recovery.Sets, error) { return unserved.Open(o) },
				Complete: unserved.Complete,
			}
			from := recovery.Host{Client: host.Client, NoteNamespace: options.NoteNamespace}
			return recovery.Rebuild(cmd.Context(), options.Storage, server, from, *dryRun, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}, sections
}

// newWaitCommand returns a command that keeps a pod running in which users execute the other
// commands: the image has no shell.
func newWaitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "wait",
		Short: "Do nothing until it is stopped, so that other commands can run in the same container",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			<-cmd.Context().Done()
			return nil
		},
	}
}
