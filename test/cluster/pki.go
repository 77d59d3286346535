// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// The files of the cluster's public key infrastructure, below DIR/pki, without .crt and .key.
const (
	clusterCA        = "ca"
	etcdCA           = "etcd-ca"
	frontProxyCA     = "front-proxy-ca"
	etcdServer       = "etcd"
	etcdClient       = "etcd-client"
	servingCert      = "serving"
	frontProxyClient = "front-proxy-client"
	serviceAccounts  = "service-account"
	adminClient      = "admin"
	kcmClient        = "kube-controller-manager"
	schedulerClient  = "kube-scheduler"
	kwokClient       = "kwok"
	kubeProxyClient  = "kube-proxy"
	corednsClient    = "coredns"
	localPathClient  = "local-path"
)

func localHosts() []string { return []string{"localhost", loopback} }

// controlPlaneHosts returns the names and addresses of a control plane.
func controlPlaneHosts(host string) []string {
	if host == loopback {
		return localHosts()
	}
	return append(localHosts(), host)
}

// leaves returns the certificates that each CA signs. kwok has its own name, so that its requests
// can be distinguished in the audit log.
func leaves(host string) map[string]map[string]identity {
	serving := append(controlPlaneHosts(host), "10.96.0.1", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local")
	return map[string]map[string]identity{
		etcdCA: {
			etcdServer: {name: "etcd", hosts: controlPlaneHosts(host)},
			etcdClient: {name: "kube-apiserver"},
		},
		frontProxyCA: {
			frontProxyClient: {name: "front-proxy-client"},
		},
		clusterCA: {
			servingCert:     {name: "control-plane", hosts: serving},
			adminClient:     {name: "admin", groups: []string{"system:masters"}},
			kcmClient:       {name: "system:kube-controller-manager"},
			schedulerClient: {name: "system:kube-scheduler"},
			kwokClient:      {name: "kwok", groups: []string{"system:masters"}},
			kubeProxyClient: {name: "system:kube-proxy"},
			corednsClient:   {name: "coredns", groups: []string{"system:masters"}},
			localPathClient: {name: "local-path", groups: []string{"system:masters"}},
		},
	}
}

// ensurePKI creates DIR/pki with all keys and certificates unless it exists. It appears complete or
// not at all.
func ensurePKI(dir, host string) error {
	final := filepath.Join(dir, "pki")
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	partial := final + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("removing unfinished certificates: %w", err)
	}
	for ca, signed := range leaves(host) {
		if err := writeAuthority(partial, ca, signed); err != nil {
			return err
		}
	}
	_, key, err := newKey()
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(partial, serviceAccounts+".key"), key); err != nil {
		return fmt.Errorf("writing the service account key: %w", err)
	}
	if err := os.Rename(partial, final); err != nil {
		return fmt.Errorf("putting certificates in place: %w", err)
	}
	return nil
}

func writeAuthority(dir, name string, signed map[string]identity) error {
	ca, err := newAuthority(name)
	if err != nil {
		return err
	}
	if err := ca.write(filepath.Join(dir, name)); err != nil {
		return err
	}
	for file, id := range signed {
		pair, err := ca.issue(id)
		if err != nil {
			return err
		}
		if err := pair.write(filepath.Join(dir, file)); err != nil {
			return err
		}
	}
	return nil
}
