// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestCommandsHaveNoRateOfTheirOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(nowhere), 0o600); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	root := &cobra.Command{}
	cluster := clusterFlags(root, genericiooptions.NewTestIOStreamsDiscard())
	if err := root.PersistentFlags().Set("kubeconfig", path); err != nil {
		t.Fatalf("setting --kubeconfig: %v", err)
	}
	config, err := cluster.ToRESTConfig()
	if err != nil {
		t.Fatalf("reading the kubeconfig: %v", err)
	}
	if config.QPS >= 0 {
		t.Errorf("requests a second: got %v, want a negative number, that is no limit: 0 stands for 5", config.QPS)
	}
}
