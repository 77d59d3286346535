// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"statefulset.dev/client/clientset/versioned"
)

// Cluster is a running local cluster. Its clients authenticate as the administrator, connect
// through the host cluster, and have no rate limit.
type Cluster struct {
	// Dir is the cluster's directory.
	Dir     string
	Config  *rest.Config
	Host    kubernetes.Interface
	Dynamic dynamic.Interface
	// Sets is the client of our group.
	Sets versioned.Interface
}

// Open opens the cluster that STATEFULSET_CLUSTER_DIR names.
func Open() (*Cluster, error) {
	dir := os.Getenv("STATEFULSET_CLUSTER_DIR")
	if dir == "" {
		return nil, errors.New("STATEFULSET_CLUSTER_DIR is not set: run the suite with hack/test-on-cluster.sh, " +
			"or set it to the directory of a cluster that bin/cluster up and bin/cluster register have started")
	}
	c := &Cluster{Dir: dir}
	var err error
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig()); err != nil {
		return nil, fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	c.Config.QPS = -1
	c.Config.WarningHandler = rest.NoWarnings{}
	if c.Host, err = kubernetes.NewForConfig(c.Config); err != nil {
		return nil, fmt.Errorf("creating the client of the host cluster: %w", err)
	}
	if c.Dynamic, err = dynamic.NewForConfig(c.Config); err != nil {
		return nil, fmt.Errorf("creating the dynamic client: %w", err)
	}
	if c.Sets, err = versioned.NewForConfig(c.Config); err != nil {
		return nil, fmt.Errorf("creating the client of our group: %w", err)
	}
	return c, nil
}

// Path returns a path below the cluster's directory.
func (c *Cluster) Path(elem ...string) string {
	return filepath.Join(append([]string{c.Dir}, elem...)...)
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.Path("kubeconfig") }

// Kubectl runs the cluster's kubectl as administrator. The error contains its output.
func (c *Cluster) Kubectl(ctx context.Context, stdin string, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	args = append([]string{"--kubeconfig", c.Kubeconfig(), "--cache-dir", c.Path("kubectl-cache")}, args...)
	command := exec.CommandContext(ctx, c.Path("kubectl"), args...)
	var out, errOut bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &errOut
	if err = command.Run(); err != nil {
		err = fmt.Errorf("kubectl %s: %w\n%s%s", strings.Join(args, " "), err, &out, &errOut)
	}
	return out.String(), errOut.String(), err
}

// MustKubectl runs the cluster's kubectl as administrator, and fails the test if the command fails.
func (c *Cluster) MustKubectl(t testing.TB, stdin string, args ...string) (stdout string) {
	t.Helper()
	stdout, _, err := c.Kubectl(t.Context(), stdin, args...)
	if err != nil {
		t.Fatal(err)
	}
	return stdout
}
