// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package versions is the command that prints the versions of the plugin, of our server, and of the
// host cluster.
package versions

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/version"
)

// patience limits the time of one run.
const patience = 30 * time.Second

// NewCommand returns the command "version". The getter must access the cluster without the adapter.
func NewCommand(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	clientOnly := false
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this plugin, of the server and of the cluster",
		Long: "Print the version of this plugin, the versions of Kubernetes that it works with, and the versions of\n" +
			"the server and of the cluster. If there are several servers, any one of them answers.\n" +
			"The exit code is 1 if the cluster or the server does not answer.",
		Example:       "  # All versions\n  kubectl sts version\n\n  # Only the version of the plugin, without a cluster\n  kubectl sts version --client",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprint(streams.Out, version.Get().Text("kubectl sts"))
			if clientOnly {
				return nil
			}
			config, err := getter.ToRESTConfig()
			if err != nil {
				return fmt.Errorf("reading the kubeconfig: %w", err)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			return showCluster(ctx, config, streams)
		},
	}
	command.Flags().BoolVar(&clientOnly, "client", false, "Print only the version of this plugin, without a request to the cluster.")
	return command
}

func showCluster(ctx context.Context, config *rest.Config, streams genericiooptions.IOStreams) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	host, err := client.ServerVersionWithContext(ctx)
	if err != nil {
		return fmt.Errorf("the cluster does not answer: %w", err)
	}
	fmt.Fprintf(streams.Out, "cluster: Kubernetes %s\n", host.GitVersion)
	if problem := version.UntestedHost(host.GitVersion); problem != "" {
		fmt.Fprintf(streams.ErrOut, "Warning: %s\n", problem)
	}
	server, err := askServer(ctx, config)
	if err != nil {
		return err
	}
	fmt.Fprintf(streams.Out, "server: statefulset-apiserver %s\n", cmp.Or(server, "(unknown version)"))
	return nil
}

// askServer returns the version of the server, which is in a header of its answer to discovery.
func askServer(ctx context.Context, config *rest.Config) (string, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return "", fmt.Errorf("building a client: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	group := v1.SchemeGroupVersion.String()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("apis", group).String(), nil)
	if err != nil {
		return "", fmt.Errorf("asking the server: %w", err)
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("asking the server: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the cluster does not serve %s: %s; kubectl sts doctor finds the cause", group, answer.Status)
	}
	return answer.Header.Get(version.Header), nil
}
