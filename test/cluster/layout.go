// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"path/filepath"
	"strconv"
)

// layout knows the path of everything in a cluster directory.
type layout struct {
	dir        string
	ports      map[string]int
	kubernetes release
	// auditPolicy is the file of an audit policy that replaces the default, if not empty.
	auditPolicy string
	// net is the network of real nodes, nil for a cluster of fake nodes.
	net *network
}

// fakeNodes reports whether the cluster has nodes that run nothing.
func (l layout) fakeNodes() bool { return l.net == nil || l.net.Mixed }

// host returns the address at which the control plane listens.
func (l layout) host() string {
	if l.net == nil {
		return loopback
	}
	return l.net.controlPlane().address
}

// netns returns the network namespace of the control plane, empty for that of this program.
func (l layout) netns() string {
	if l.net == nil {
		return ""
	}
	return l.net.controlPlane().name
}

// nodes returns the real nodes.
func (l layout) nodes() []node {
	if l.net == nil {
		return nil
	}
	return l.net.nodes()
}

// address returns the address of a listener of the control plane.
func (l layout) address(port int) string { return net.JoinHostPort(l.host(), strconv.Itoa(port)) }

func (l layout) path(elem ...string) string {
	return filepath.Join(append([]string{l.dir}, elem...)...)
}
func (l layout) pki(file string) string  { return l.path("pki", file) }
func (l layout) crt(name string) string  { return l.pki(name + ".crt") }
func (l layout) key(name string) string  { return l.pki(name + ".key") }
func (l layout) log(name string) string  { return l.path("logs", name+".log") }
func (l layout) url(name string) string  { return "https://" + l.address(l.ports[name]) }
func (l layout) port(name string) string { return strconv.Itoa(l.ports[name]) }

// clientConfig returns the path of the kubeconfig of a component that authenticates with the
// certificate of the given name.
func (l layout) clientConfig(name string) string { return l.path("kubeconfigs", name) }

func (l layout) adminConfig() string { return l.path("kubeconfig") }
func (l layout) kubectl() string     { return l.path("kubectl") }

// apiserverProbe requests a path of kube-apiserver as administrator.
func (l layout) apiserverProbe(path string) probe {
	return probe{url: l.url(apiserverName) + path, caFile: l.crt(clusterCA), certBase: l.pki(adminClient)}
}
