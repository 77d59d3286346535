//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"statefulset.dev/test/warmup"
)

// suite is what every row uses. It is set once, before the first test runs.
var suite struct {
	dir     string
	plugins string // a directory with the plugin, under the names that kubectl looks for
	cache   string // what kubectl remembers of the cluster
	sides   []side
	host    kubernetes.Interface
	dynamic dynamic.Interface
}

func TestMain(m *testing.M) {
	flag.Parse() // releases asks for -test.short
	scratch, err := os.MkdirTemp("", "kubectl-suite-")
	if err == nil {
		err = connect(scratch)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "kubectl: %v\n", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

func connect(scratch string) error {
	suite.dir = os.Getenv("STATEFULSET_CLUSTER_DIR")
	if suite.dir == "" {
		return fmt.Errorf("STATEFULSET_CLUSTER_DIR is not set: run the rows with make test-kubectl, or name the directory of a cluster that bin/cluster started")
	}
	suite.cache, suite.plugins = filepath.Join(scratch, "cache"), filepath.Join(scratch, "bin")
	if err := linkPlugin(); err != nil {
		return err
	}
	found, err := releases(context.Background(), suite.dir)
	if err != nil {
		return err
	}
	suite.sides = sides(found)
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(suite.dir, "kubeconfig"))
	if err != nil {
		return fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	config.QPS = -1
	if suite.host, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the host client: %w", err)
	}
	if suite.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("creating the dynamic client: %w", err)
	}
	if err := warmup.Wait(context.Background(), config); err != nil {
		return fmt.Errorf("waiting for the cluster's controllers: %w", err)
	}
	return nil
}

// linkPlugin makes the plugin known to kubectl, under the name of a command and under that of its completion. It is the
// one that KUBECTL_STS names, by default that of make build.
func linkPlugin() error {
	plugin := os.Getenv("KUBECTL_STS")
	if plugin == "" {
		plugin = "../../bin/kubectl-sts"
	}
	plugin, err := filepath.Abs(plugin)
	if err != nil {
		return fmt.Errorf("finding the plugin: %w", err)
	}
	if _, err := os.Stat(plugin); err != nil {
		return fmt.Errorf("finding the plugin, which make build builds: %w", err)
	}
	if err := os.MkdirAll(suite.plugins, 0o755); err != nil {
		return fmt.Errorf("creating a directory for the plugin: %w", err)
	}
	for _, name := range []string{"kubectl-sts", "kubectl_complete-sts"} {
		if err := os.Symlink(plugin, filepath.Join(suite.plugins, name)); err != nil {
			return fmt.Errorf("linking the plugin: %w", err)
		}
	}
	return nil
}
