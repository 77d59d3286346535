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
	// objects reads and deletes objects by their metadata.
	objects metadata.Interface
	host    kubernetes.Interface
	streams genericiooptions.IOStreams
	// system is the namespace that the server runs in.
	system string

	deleteSets, orphanMembers, withoutServer, dryRun bool
	// leaveRest leaves the objects that can be removed in any order to Helm.
	leaveRest bool
	// patience is the maximum time of each wait, and interval the time between two polls.
	patience, interval time.Duration
}

// NewCommand returns the command "uninstall". The getter must access the cluster without the
// adapter.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	r := &run{streams: streams, interval: time.Second}
	dry := "none"
	command := &cobra.Command{
		Use:   "uninstall [--delete-sets | --orphan-members]",
		Short: "Remove the server of apps.statefulset.dev from a cluster, in an order that is safe for pods",
		Long: `Remove the server of apps.statefulset.dev from a cluster: its registration, the server, its rights and the guard that
protects all of these from accidental deletion.

While there are sets, the command lists them and changes nothing. With --delete-sets, it first deletes the sets with
their pods. With --orphan-members, it first deletes the sets, but their pods and claims stay, without an owner. Objects
that sets created from spec.objectTemplates always stay. The stored data, the note of the store, the certificates and
the namespace also stay. To complete an interrupted run, run the same command again.`,
		Example: `  # Show what blocks the removal, or the steps
  kubectl sts uninstall --dry-run=client

  # Remove everything, if there are no sets
  kubectl sts uninstall

  # First delete all sets of the cluster with their pods
  kubectl sts uninstall --delete-sets

  # Keep the pods of all sets running, without an owner
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
	flags.BoolVar(&r.deleteSets, "delete-sets", false, "first delete all sets of all namespaces with their pods")
	flags.BoolVar(&r.orphanMembers, "orphan-members", false,
		"first delete all sets of all namespaces, and keep their pods running without an owner")
	flags.BoolVar(&r.withoutServer, "without-server", false,
		"continue although the server does not answer, if nothing in the cluster belongs to a set")
	flags.BoolVar(&r.leaveRest, "leave-rest", false,
		"remove the registration and the guard, and leave the rest to Helm; the hook of the chart uses this")
	flags.StringVar(&dry, "dry-run", dry, `"client" checks everything, prints the steps and changes nothing; "none" performs them`)
	flags.Lookup("dry-run").NoOptDefVal = "client"
	flags.DurationVar(&r.patience, "timeout", 10*time.Minute, "maximum time of each wait")
	flags.StringVar(&r.system, "server-namespace", "statefulset-system", "namespace that the server runs in")
	return command
}

// complete checks the flags and connects to the cluster.
func (r *run) complete(getter genericclioptions.RESTClientGetter, dry string) error {
	switch {
	case r.deleteSets && r.orphanMembers:
		return errors.New("--delete-sets and --orphan-members cannot be combined: the first deletes the pods, the second keeps them")
	case r.leaveRest && dry != "none":
		return errors.New("--leave-rest and --dry-run cannot be combined: --dry-run alone shows what blocks the removal")
	case dry == "server":
		return errors.New(
			`--dry-run is "server", must be none or client: the guard refuses to delete objects without its annotation, and a dry run cannot annotate them`)
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
		return fmt.Errorf("creating the client for the cluster: %w", err)
	}
	if r.objects, err = metadata.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the client for metadata: %w", err)
	}
	return nil
}

// run checks first, and then performs the steps.
func (r *run) run(ctx context.Context) error {
	if err := r.allowed(ctx); err != nil {
		return err
	}
	seen, err := r.observe(ctx)
	if err != nil {
		return err
	}
	if err := r.checkBlockers(seen); err != nil {
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
	r.printRemaining(ctx)
	return nil
}

func (r *run) printf(format string, values ...any) {
	fmt.Fprintf(r.streams.Out, format+"\n", values...)
}
