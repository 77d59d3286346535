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

// preparedObjects returns the manifests that are applied to a new cluster: its storage classes,
// fake nodes with the guard for KWOK's deletes, and the objects for real nodes.
func (l layout) preparedObjects() []string {
	var all []string
	if l.net != nil {
		all = append(all, "manifests/real.yaml")
	}
	if l.fakeNodes() {
		all = append(all, "manifests/nodes.yaml.tmpl", "manifests/storage.yaml.tmpl", "manifests/pod-deletes.yaml")
	}
	return all
}

// prepared returns the text of the prepared objects.
func (l layout) prepared() ([]byte, error) {
	values := map[string]any{"Numbers": []int{1, 2, 3}, "Mixed": l.net != nil}
	var all bytes.Buffer
	for _, name := range l.preparedObjects() {
		raw, err := manifests.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".tmpl") {
			if raw, err = render(name, string(raw), values); err != nil {
				return nil, err
			}
		}
		all.Write(raw)
		all.WriteString("\n---\n")
	}
	if l.net != nil {
		fmt.Fprintf(&all, dnsEndpoints, l.host())
	}
	return all.Bytes(), nil
}

// dnsEndpoints are the endpoints of the Service of CoreDNS.
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

// applyPrepared applies the prepared objects.
func (s *supervisor) applyPrepared(ctx context.Context, kubectl string) error {
	all, err := s.prepared()
	if err != nil {
		return err
	}
	if err := runKubectl(ctx, kubectl, s.adminConfig(), all, "apply", "--filename=-"); err != nil {
		return fmt.Errorf("creating nodes and storage classes: %w", err)
	}
	return nil
}

// runKubectl runs kubectl against the cluster. Its error contains kubectl's output.
func runKubectl(ctx context.Context, kubectl, kubeconfig string, stdin []byte, args ...string) error {
	cmd := exec.CommandContext(ctx, kubectl, append([]string{"--kubeconfig=" + kubeconfig}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl %s: %w:\n%s", strings.Join(args, " "), err, lastLines(string(output)))
	}
	return nil
}
