// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os/exec"
	"strings"
)

//go:embed manifests
var manifests embed.FS

const (
	auditPolicyFile = "audit-policy.yaml"
	auditPolicy     = "manifests/audit-policy.yaml"
)

// preparedObjects are applied to a new cluster: its fake nodes, its storage classes, and the guard for KWOK's deletes.
func preparedObjects() []string {
	return []string{"manifests/nodes.yaml", "manifests/storage.yaml", "manifests/pod-deletes.yaml"}
}

// applyPrepared makes the prepared objects exist.
func applyPrepared(ctx context.Context, kubectl, kubeconfig string) error {
	var all bytes.Buffer
	for _, name := range preparedObjects() {
		raw, err := manifests.ReadFile(name)
		if err != nil {
			return err
		}
		all.Write(raw)
		all.WriteString("\n---\n")
	}
	return runKubectl(ctx, kubectl, kubeconfig, all.Bytes(), "apply", "--filename=-")
}

// runKubectl runs kubectl on the cluster; its error carries kubectl's own words.
func runKubectl(ctx context.Context, kubectl, kubeconfig string, stdin []byte, args ...string) error {
	cmd := exec.CommandContext(ctx, kubectl, append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl %s: %w:\n%s", strings.Join(args, " "), err, lastLines(string(output)))
	}
	return nil
}
