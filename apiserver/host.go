// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// host is the cluster that authenticates and authorizes for us, and in which the
// members of the sets run.
type host struct {
	// config has neither a rate nor a timeout: see hostConfig.
	config *rest.Config
	// client is for single requests, which end after requestTimeout at the latest, and
	// watching for informers, whose requests have no end.
	client, watching kubernetes.Interface
	source           string // where config comes from, for error messages
}

// requestTimeout bounds a single request to the host whose context may have no end, such
// as those of the admission plugins.
const requestTimeout = 30 * time.Second

// newHost reads the kubeconfig, or takes the cluster that this process runs in.
func newHost(kubeconfig string) (*host, error) {
	config, err := hostConfig(kubeconfig)
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
	return &host{config: config, client: client, watching: watching, source: source}, nil
}

// hostConfig is the one place where the way to a cluster is read, so that every client
// of this server is without a rate of its own: the default, 5 requests a second, is
// shared by all that a client does, and makes what matters wait for what does not. The
// host has queues, and says itself when it is too much.
func hostConfig(kubeconfig string) (*rest.Config, error) {
	config, err := readHostConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

func readHostConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("no host cluster: --kubeconfig is not set and this process does not run in a cluster; point --kubeconfig at the cluster in which the members shall run")
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

// wait returns when the host tells us whom it trusts, which is what the server
// needs before it can serve anybody. It asks again, ever more slowly, until
// patience is used up: the host, or our role in it, may just be starting.
func (h *host) wait(ctx context.Context, patience time.Duration) error {
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
	return fmt.Errorf("the host cluster at %s cannot be used, tried for %s: %w", h.config.Host, patience, h.explain(last))
}

// readTrust reads the object in which a cluster publishes its client CA and its
// front-proxy CA.
func (h *host) readTrust(ctx context.Context) error {
	_, err := h.client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
	return err
}

// explain says what to do about an error of readTrust.
func (h *host) explain(err error) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("it does not accept the credentials of %s: %w", h.source, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("it forbids what this server needs: %w; bind the role extension-apiserver-authentication-reader in namespace kube-system", err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("it does not support API aggregation: %w; its kube-apiserver must run with --requestheader-client-ca-file", err)
	}
	return fmt.Errorf("%w; check that it runs and that %s points to it", err, h.source)
}

// ready asks whether the host answers at all.
func (h *host) ready(ctx context.Context) error {
	if err := h.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("the host cluster at %s is not ready: %s", h.config.Host, firstLine(err))
	}
	return nil
}

// firstLine is the first line of an error: the host lists each of its checks.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
