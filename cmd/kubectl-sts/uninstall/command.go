// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// run is one run of the command.
type run struct {
	// objects reads and deletes; nothing but metadata is looked at.
	objects metadata.Interface
	host    kubernetes.Interface
	streams genericiooptions.IOStreams
	// system is the namespace that the server runs in.
	system string

	deleteSets, orphanMembers, withoutServer, dryRun bool
	// leaveRest leaves to Helm what can be removed in any order.
	leaveRest bool
	// patience is how long each wait may last, and interval how often is looked.
	patience, interval time.Duration
}

// NewCommand returns the command "uninstall". The getter must lead to the cluster as it is.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	r := &run{streams: streams, interval: time.Second}
	dry := "none"
	command := &cobra.Command{
		Use:   "uninstall [--delete-sets | --orphan-members]",
		Short: "Remove the server of apps.statefulset.dev from a cluster, in the order that endangers no pod",
		Long: `Remove the server of apps.statefulset.dev from a cluster: its registration, the server, its rights and the guard that
keeps all these from being deleted in passing.

While there are sets nothing is changed, and they are listed. With --delete-sets they are deleted with their pods; with
--orphan-members they are deleted, and their pods and claims stay, with no owner. Objects that sets have made by
spec.objectTemplates stay in any case. The stored data, the note about it, the
certificate and the namespace stay. A run that was interrupted is completed by running the same command again.`,
		Example: `  # Say what is in the way, or what would be done
  kubectl sts uninstall --dry-run=client

  # Remove everything; there are no sets
  kubectl sts uninstall

  # Delete all sets of the cluster first, with their pods
  kubectl sts uninstall --delete-sets

  # Let the pods of all sets run on without owner
  kubectl sts uninstall --orphan-members`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := r.complete(getter, dry); err != nil {
				return err
			}
			return r.run(command.Context())
		},
	}
	flags := command.Flags()
	flags.BoolVar(&r.deleteSets, "delete-sets", false, "delete all sets of all namespaces, with their pods, first")
	flags.BoolVar(&r.orphanMembers, "orphan-members", false,
		"delete all sets of all namespaces first, and leave their pods running without owner")
	flags.BoolVar(&r.withoutServer, "without-server", false,
		"go on although the server does not answer, if nothing in the cluster belongs to a set")
	flags.BoolVar(&r.leaveRest, "leave-rest", false,
		"remove the registration and the guard, and leave the rest to Helm; the chart's hook does this")
	flags.StringVar(&dry, "dry-run", dry, `"client" checks everything, prints the steps and changes nothing; "none" does them`)
	flags.Lookup("dry-run").NoOptDefVal = "client"
	flags.DurationVar(&r.patience, "timeout", 10*time.Minute, "how long each wait may last")
	flags.StringVar(&r.system, "server-namespace", "statefulset-system", "namespace that the server runs in")
	return command
}

// complete checks the flags and connects to the cluster.
func (r *run) complete(getter genericclioptions.RESTClientGetter, dry string) error {
	switch {
	case r.deleteSets && r.orphanMembers:
		return errors.New("--delete-sets and --orphan-members exclude each other: are the pods to be deleted or to stay?")
	case r.leaveRest && dry != "none":
		return errors.New("--leave-rest and --dry-run exclude each other: without --leave-rest, the latter says what is in the way")
	case dry == "server":
		return errors.New(
			`--dry-run is "server", must be none or client: the guard refuses to delete what is not annotated, and a dry run annotates nothing`)
	case dry != "none" && dry != "client":
		return fmt.Errorf("--dry-run is %q, must be none or client", dry)
	case r.patience <= 0:
		return fmt.Errorf("--timeout is %s, must be more than 0", r.patience)
	}
	r.dryRun = dry == "client"
	config, err := getter.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return r.connect(config)
}

func (r *run) connect(config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.QPS = -1
	var err error
	if r.host, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the host client: %w", err)
	}
	if r.objects, err = metadata.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the client for metadata: %w", err)
	}
	return nil
}

// run looks first, and then goes through the steps.
func (r *run) run(ctx context.Context) error {
	if err := r.allowed(ctx); err != nil {
		return err
	}
	seen, err := r.look(ctx)
	if err != nil {
		return err
	}
	if err := r.inTheWay(seen); err != nil {
		return err
	}
	if r.dryRun {
		r.preview(seen)
		return nil
	}
	if err := r.endSets(ctx, seen); err != nil {
		return err
	}
	if err := r.unregister(ctx); err != nil {
		return err
	}
	if r.leaveRest {
		return r.leave(ctx)
	}
	for _, step := range [][]object{servers(), rightsOf(), guard()} {
		for _, o := range step {
			if err := r.remove(ctx, o); err != nil {
				return err
			}
		}
	}
	r.sayWhatStays(ctx)
	return nil
}

func (r *run) say(format string, values ...any) {
	fmt.Fprintf(r.streams.Out, format+"\n", values...)
}
