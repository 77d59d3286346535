// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// waitUsable waits for what the first pod needs: ready nodes, and the service account that
// admission requires.
func (s *supervisor) waitUsable(ctx context.Context, kubectl string) error {
	timeout := "--timeout=" + readyWithin.String()
	wait := func(args ...string) error {
		return runKubectl(ctx, kubectl, s.adminConfig(), nil, append([]string{"wait", timeout}, args...)...)
	}
	var real []string
	for _, n := range s.nodes() {
		real = append(real, "node/"+n.name)
	}
	// The option --all covers only nodes that the cluster already knows.
	if len(real) > 0 {
		if err := wait(append([]string{"--for=create"}, real...)...); err != nil {
			return fmt.Errorf("waiting for the nodes to register: %w", err)
		}
	}
	if err := wait("--for=condition=Ready", "nodes", "--all"); err != nil {
		return fmt.Errorf("waiting for the nodes: %w", err)
	}
	if len(real) > 0 {
		if err := s.waitTaken(ctx, kubectl, real); err != nil {
			return fmt.Errorf("waiting until the nodes accept pods: %w", err)
		}
	}
	if err := wait("--for=create", "serviceaccount/default"); err != nil {
		return fmt.Errorf("waiting for the default service account: %w", err)
	}
	return nil
}

// waitTaken waits until real nodes have lost the taint with which they register.
func (s *supervisor) waitTaken(ctx context.Context, kubectl string, nodes []string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		args := append([]string{"--kubeconfig=" + s.adminConfig(), "get", "--no-headers", "--output=custom-columns=:.spec.taints[*].key"},
			nodes...)
		output, err := exec.CommandContext(ctx, kubectl, args...).CombinedOutput()
		if err == nil && !strings.Contains(string(output), "node.kubernetes.io/not-ready") {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last output of kubectl:\n%s", ctx.Err(), lastLines(string(output)))
		case <-time.After(taintPoll):
		}
	}
}

// taintPoll is how often to check whether a node accepts pods.
const taintPoll = 200 * time.Millisecond
