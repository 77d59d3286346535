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

// preparedObjects are applied to a new cluster: its storage classes, and fake nodes with the guard for KWOK's deletes, or the
// address of CoreDNS.
func (l layout) preparedObjects() []string {
	if l.net != nil {
		return []string{"manifests/real.yaml"}
	}
	return []string{"manifests/nodes.yaml", "manifests/storage.yaml", "manifests/pod-deletes.yaml"}
}

// dnsEndpoints lead the Service of CoreDNS to where it runs.
const dnsEndpoints = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: kube-dns
  namespace: kube-system
  labels: {kubernetes.io/service-name: kube-dns}
addressType: IPv4
endpoints:
- addresses: [%s]
ports:
- {name: dns, port: 53, protocol: UDP}
- {name: dns-tcp, port: 53, protocol: TCP}
`

// applyPrepared makes the prepared objects exist.
func (s *supervisor) applyPrepared(ctx context.Context, kubectl string) error {
	var all bytes.Buffer
	for _, name := range s.preparedObjects() {
		raw, err := manifests.ReadFile(name)
		if err != nil {
			return err
		}
		all.Write(raw)
		all.WriteString("\n---\n")
	}
	if s.net != nil {
		fmt.Fprintf(&all, dnsEndpoints, s.host())
	}
	return runKubectl(ctx, kubectl, s.adminConfig(), all.Bytes(), "apply", "--filename=-")
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
