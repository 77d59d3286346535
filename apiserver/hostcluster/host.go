// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Host is the host cluster: the cluster that authenticates and authorizes for this server, and in
// which the pods of the sets run.
type Host struct {
	// Config has neither a rate limit nor a timeout: see ReadConfig.
	Config *rest.Config
	// Client is for single requests, which end after requestTimeout at the latest, and Watching is
	// for informers, whose requests do not end.
	Client, Watching kubernetes.Interface
	source           string // the source of Config, for error messages
}

// requestTimeout limits a single request to the host cluster whose context may have no deadline,
// such as the requests of the admission plugins.
const requestTimeout = 30 * time.Second

// NoResync prevents informers from sending unchanged objects again.
const NoResync time.Duration = 0

// New reads the kubeconfig, or uses the cluster in which this process runs.
func New(kubeconfig string) (*Host, error) {
	config, err := ReadConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	watching, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for the host cluster at %s: %w", config.Host, err)
	}
	single := rest.CopyConfig(config)
	single.Timeout = requestTimeout
	client, err := kubernetes.NewForConfig(single)
	if err != nil {
		return nil, fmt.Errorf("creating a client for the host cluster at %s: %w", config.Host, err)
	}
	source := fmt.Sprintf("--kubeconfig %q", kubeconfig)
	if kubeconfig == "" {
		source = "the service account of this pod"
	}
	return &Host{Config: config, Client: client, Watching: watching, source: source}, nil
}

// Metadata returns a client that reads only the metadata of objects.
func (h *Host) Metadata() (metadata.Interface, error) {
	client, err := metadata.NewForConfig(h.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for the host cluster at %s: %w", h.Config.Host, err)
	}
	return client, nil
}

// Dynamic returns a client for objects whose kinds are not compiled in.
func (h *Host) Dynamic() (dynamic.Interface, error) {
	client, err := dynamic.NewForConfig(h.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for the host cluster at %s: %w", h.Config.Host, err)
	}
	return client, nil
}

// Connect connects to the host cluster and waits until it can be used.
func Connect(ctx context.Context, kubeconfig string, patience time.Duration) (*Host, error) {
	host, err := New(kubeconfig)
	if err != nil {
		return nil, err
	}
	return host, host.wait(ctx, patience)
}

// ReadConfig is the only function that reads the client configuration of a cluster, so that no
// client of this server has a rate limit. The default, 5 requests a second, is shared by everything
// that a client does, so important requests would wait for unimportant ones. The host cluster has
// queues, and reports itself when the load is too high.
func ReadConfig(kubeconfig string) (*rest.Config, error) {
	config, err := readConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

func readConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New(
				"no host cluster: --kubeconfig is not set and this process does not run in a cluster; set --kubeconfig to the cluster in which the pods should run")
		}
		if err != nil {
			return nil, fmt.Errorf("reading the service account of this pod: %w", err)
		}
		return config, nil
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading --kubeconfig %q: %w", kubeconfig, err)
	}
	return config, nil
}

// wait returns when the host cluster returns its client CA and front-proxy CA, without which the
// server cannot serve. It retries less and less often until patience is over, because the cluster
// may be starting, or the server's role in it may not be there yet.
func (h *Host) wait(ctx context.Context, patience time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	backoff := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.1, Cap: 5 * time.Second, Steps: 5}
	var last error
	err := backoff.DelayFunc().Until(limited, true, true, func(ctx context.Context) (bool, error) {
		err := h.readTrust(ctx)
		if err != nil && ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case last == nil:
		last = err
	}
	return fmt.Errorf("the host cluster at %s cannot be used (tried for %s): %w", h.Config.Host, patience, h.explain(last))
}

// readTrust reads the object in which a cluster publishes its client CA and its front-proxy CA.
func (h *Host) readTrust(ctx context.Context) error {
	_, err := h.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
	return err
}

// explain adds to an error of readTrust what to do about it.
func (h *Host) explain(err error) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("it does not accept the credentials of %s: %w", h.source, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf(
			"it forbids what this server needs: %w; bind the role extension-apiserver-authentication-reader in namespace kube-system", err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("it does not support API aggregation: %w; its kube-apiserver must run with --requestheader-client-ca-file", err)
	}
	return fmt.Errorf("%w; check that it runs and that %s points to it", err, h.source)
}

// Ready returns an error if the host cluster is not ready.
func (h *Host) Ready(ctx context.Context) error {
	if err := h.Client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("the host cluster at %s is not ready: %s", h.Config.Host, firstLine(err))
	}
	return nil
}

// firstLine returns the first line of an error: the host cluster lists each of its checks.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
