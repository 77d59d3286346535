// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
)

// Additional components of a cluster with real nodes: DNS and volumes. Both run next to the control
// plane.
const (
	corednsName   = "coredns"
	localPathName = "local-path-provisioner"

	// dnsAddress is the ClusterIP of the DNS server for pods.
	dnsAddress         = "10.96.0.10"
	corednsHealthPort  = "8181"
	localPathNamespace = "local-path-storage"
)

func (l layout) coredns(bin binaries) component {
	return component{
		name:   corednsName,
		exe:    bin["coredns"],
		args:   []string{"-conf=" + l.path("config", "Corefile")},
		netns:  l.netns(),
		health: probe{url: "http://" + l.host() + ":" + corednsHealthPort + "/ready"},
	}
}

func (l layout) localPath(bin binaries) component {
	return component{
		name: localPathName,
		exe:  bin["local-path-provisioner"],
		args: []string{
			"start",
			"--config=" + l.path("config", "local-path.json"),
			"--helper-pod-file=" + l.path("config", "local-path-helper.yaml"),
			"--helper-image=" + busyboxImage,
			"--kubeconfig=" + l.clientConfig(localPathClient),
			"--namespace=" + localPathNamespace,
			"--configmap-name=local-path-config",
			"--service-account-name=default",
		},
		netns: l.netns(),
		// It has no port, so it is healthy while its process is alive.
	}
}

// corefile answers only for names of the cluster. Answers are cached only briefly, so that a pod
// that has just become ready is found.
const corefile = `.:53 {
    bind {{ .Host }}
    errors
    ready {{ .Host }}:{{ .Ready }}
    kubernetes cluster.local in-addr.arpa {
        kubeconfig {{ .Kubeconfig }}
        pods insecure
        ttl 2
    }
    cache 2 {
        denial 1024 1
    }
}
`

// writeAddons writes the configuration files of CoreDNS and the provisioner.
func (s *supervisor) writeAddons() error {
	for _, client := range []string{corednsClient, localPathClient, kubeProxyClient} {
		if err := s.writeClientConfig(s.clientConfig(client), client); err != nil {
			return err
		}
	}
	names, err := render("Corefile", corefile,
		map[string]any{"Host": s.host(), "Ready": corednsHealthPort, "Kubeconfig": s.clientConfig(corednsClient)})
	if err != nil {
		return err
	}
	if err := writeFile(s.path("config", "Corefile"), names); err != nil {
		return fmt.Errorf("writing the configuration of CoreDNS: %w", err)
	}
	type nodePath struct {
		Node  string   `json:"node"`
		Paths []string `json:"paths"`
	}
	var paths []nodePath
	for _, n := range s.net.nodes() {
		paths = append(paths, nodePath{n.name, []string{s.volumes(n)}})
	}
	config, err := json.Marshal(map[string]any{"nodePathMap": paths})
	if err != nil {
		return fmt.Errorf("encoding the paths of volumes: %w", err)
	}
	if err := writeFile(s.path("config", "local-path.json"), config); err != nil {
		return fmt.Errorf("writing the paths of volumes: %w", err)
	}
	helper, err := manifests.ReadFile("manifests/local-path-helper.yaml")
	if err != nil {
		return err
	}
	return writeFile(s.path("config", "local-path-helper.yaml"), helper)
}
