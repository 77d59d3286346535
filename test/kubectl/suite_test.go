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

	"statefulset.dev/test/harness"
)

// suite is what every row uses. It is set once, before the first test runs.
var suite struct {
	*harness.Cluster
	plugins string // a directory with the plugin, under the names that kubectl looks for
	cache   string // what kubectl remembers of the cluster
	sides   []side
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

func connect(scratch string) (err error) {
	if suite.Cluster, err = harness.Open(); err != nil {
		return err
	}
	suite.cache, suite.plugins = filepath.Join(scratch, "cache"), filepath.Join(scratch, "bin")
	if err := linkPlugin(); err != nil {
		return err
	}
	found, err := releases(context.Background(), suite.Dir)
	if err != nil {
		return err
	}
	suite.sides = sides(found)
	return suite.WarmUp(context.Background())
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
