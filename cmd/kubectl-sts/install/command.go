// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// run is one run of the command.
type run struct {
	host    kubernetes.Interface
	objects dynamic.Interface
	mapper  meta.RESTMapper
	streams genericiooptions.IOStreams

	image  string
	single bool
	dryRun bool
	// changeStore allows users to move the sets from one store to another.
	changeStore bool
	patience    time.Duration
}

// NewCommand returns the command "install". The getter must access the cluster without the adapter.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	r := &run{streams: streams}
	dry, output := "none", "yaml"
	command := &cobra.Command{
		Use:   "install --image=IMAGE",
		Short: "Install the server of apps.statefulset.dev in a cluster, or update it to the version of this plugin",
		Long: `Install the server of apps.statefulset.dev in the namespace statefulset-system: three replicas, and an etcd store of
three members, each with a volume of the default StorageClass. With --single, install one replica with an embedded etcd
on one volume: for a cluster of one or two nodes, or for a trial. The server creates its certificates itself.

The command checks for problems before it changes anything. If the cluster already has the server, the command applies
the manifests again, with the image of --image.`,
		Example: `  # Install an image that make image-push has pushed
  kubectl sts install --image=registry.example/statefulset-apiserver:v1

  # One server and one volume
  kubectl sts install --image=registry.example/statefulset-apiserver:v1 --single

  # Print the manifests, for a repository or another tool
  kubectl sts install --image=registry.example/statefulset-apiserver:v1 --dry-run=client -o yaml`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := r.complete(dry, output); err != nil {
				return err
			}
			all, err := objects(r.image, r.single)
			if err != nil {
				return err
			}
			if r.dryRun {
				return r.print(all)
			}
			if err := r.connect(getter); err != nil {
				return err
			}
			return r.run(command.Context(), all)
		},
	}
	flags := command.Flags()
	flags.StringVar(&r.image, "image", "", "image of the server, from a registry that the cluster can pull from")
	flags.BoolVar(&r.single, "single", false, "install one server with an embedded etcd, instead of three servers with a store of three members")
	flags.BoolVar(&r.changeStore, "change-store", false,
		"continue although the cluster records another store; the server serves nothing until that store is restored here, see docs/high-availability.md")
	flags.StringVar(&dry, "dry-run", dry, `"client" prints the manifests and sends no request to the cluster; "none" installs`)
	flags.Lookup("dry-run").NoOptDefVal = "client"
	flags.StringVarP(&output, "output", "o", output, "output format of --dry-run; must be yaml")
	flags.DurationVar(&r.patience, "timeout", 5*time.Minute, "how long to wait until the API is available")
	return command
}

func (r *run) complete(dry, output string) error {
	switch {
	case r.image == "":
		return errors.New("--image is not set: name the image of the server, which make image-push pushes to your registry")
	case dry != "none" && dry != "client":
		return fmt.Errorf("--dry-run is %q, must be none or client", dry)
	case output != "yaml":
		return fmt.Errorf("--output is %q, must be yaml", output)
	case r.patience <= 0:
		return fmt.Errorf("--timeout is %s, must be more than 0", r.patience)
	}
	r.dryRun = dry == "client"
	return nil
}

func (r *run) connect(getter genericclioptions.RESTClientGetter) error {
	config, err := getter.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	if r.host, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the client for the cluster: %w", err)
	}
	if r.objects, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the client for objects: %w", err)
	}
	if r.mapper, err = getter.ToRESTMapper(); err != nil {
		return fmt.Errorf("getting the kinds of the cluster: %w", err)
	}
	return nil
}

func (r *run) print(all []*unstructured.Unstructured) error {
	for _, object := range all {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("encoding %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		fmt.Fprintf(r.streams.Out, "---\n%s", text)
	}
	return nil
}

// run checks first, then applies, and then waits.
func (r *run) run(ctx context.Context, all []*unstructured.Unstructured) error {
	if err := r.check(ctx, all); err != nil {
		return err
	}
	for _, object := range all {
		if err := r.apply(ctx, object); err != nil {
			return fmt.Errorf("%w; the objects applied before stay: run the same command again, or kubectl sts uninstall", err)
		}
	}
	if r.changeStore {
		r.printf("applied. The server serves nothing until the store that the cluster records is restored here: docs/high-availability.md")
		return nil
	}
	return r.await(ctx)
}

func (r *run) printf(format string, values ...any) {
	fmt.Fprintf(r.streams.Out, format+"\n", values...)
}
