// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed nodeconfig
var nodeConfigs embed.FS

// writeNode writes the files that the programs of a node read: their configuration, and the
// certificate of the node.
func (s *supervisor) writeNode(bin binaries, n node) error {
	if err := s.checkNodeDir(n); err != nil {
		return err
	}
	if err := s.issueNode(n); err != nil {
		return err
	}
	runc, err := lookForTool("runc")
	if err != nil {
		return err
	}
	values := map[string]any{
		"Node": n.name, "Address": n.address, "Pods": n.pods,
		"Dir": s.nodeDir(n), "RuntimeDir": n.runtimeDir(), "Socket": n.socket(),
		"CNI": filepath.Dir(bin["ptp"]), "Runc": runc, "Pause": pauseImage,
		"Group": string(n.group()), "ClusterCA": s.crt(clusterCA), "Certificate": s.crt(n.client()), "Key": s.key(n.client()),
		"DNS": dnsAddress, "HealthPort": kubeletHealthPort,
	}
	for name, file := range map[string]string{
		"containerd.toml": "containerd.toml",
		"kubelet.yaml":    "kubelet.yaml",
		"cni.conflist":    filepath.Join("cni", "10-pods.conflist"),
		"resolv.conf":     "resolv.conf",
	} {
		text, err := renderNodeConfig(name, values)
		if err != nil {
			return err
		}
		if err := writeFile(s.nodeDir(n, file), text); err != nil {
			return fmt.Errorf("writing %s of node %s: %w", name, n.name, err)
		}
	}
	for _, dir := range []string{s.volumes(n), n.runtimeDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("creating a directory of node %s: %w", n.name, err)
		}
	}
	return n.group().create()
}

// issueNode issues the certificate of a node once, and writes the kubeconfig that contains it.
func (s *supervisor) issueNode(n node) error {
	if !isThere(s.key(n.client())) {
		ca, err := loadAuthority(s.crt(clusterCA), s.key(clusterCA))
		if err != nil {
			return err
		}
		pair, err := ca.issue(n.identity())
		if err != nil {
			return err
		}
		if err := pair.write(s.pki(n.client())); err != nil {
			return err
		}
	}
	return s.writeClientConfig(s.clientConfig(n.client()), n.client())
}

func renderNodeConfig(name string, values map[string]any) ([]byte, error) {
	text, err := nodeConfigs.ReadFile("nodeconfig/" + name)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration %s: %w", name, err)
	}
	return render(name, string(text), values)
}
