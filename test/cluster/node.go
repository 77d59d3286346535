// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Programs of a node. The component's name ends with the name of the node.
const (
	containerdName = "containerd"
	kubeletName    = "kubelet"
	kubeProxyName  = "kube-proxy"

	kubeletHealthPort   = "10248"
	kubeProxyHealthPort = "10256"

	pauseImage   = "localhost/pause:dev"
	busyboxImage = "localhost/busybox:dev"
)

// node is one machine of the cluster: a network namespace, a control group, a directory and three
// programs.
type node struct {
	namespace
	name string
	net  *network
	// pods is the common prefix of the addresses of its pods.
	pods string
}

func (n node) group() controlGroup { return controlGroup(n.net.Name + "/" + n.name) }

// runtimeDir is short, because names of sockets have a length limit.
func (n node) runtimeDir() string { return filepath.Join("/run", n.net.Name, n.name) }

func (n node) socket() string { return filepath.Join(n.runtimeDir(), "containerd.sock") }

// client returns the name of the kubeconfig and the certificate of its kubelet.
func (n node) client() string { return "node-" + n.name }

func (n node) component(program string) string { return program + "-" + n.name }

// nodeDir returns a path in the directory of everything that a node stores.
func (l layout) nodeDir(n node, elem ...string) string {
	return l.path(append([]string{"nodes", n.name}, elem...)...)
}

// volumes returns the directory of the data of claims. It is separate, so that tests can find it.
func (l layout) volumes(n node) string { return l.nodeDir(n, "volumes") }

func (l layout) containerd(bin binaries, n node) component {
	return component{
		name:  n.component(containerdName),
		exe:   bin["containerd"],
		args:  []string{"--config=" + l.nodeDir(n, "containerd.toml")},
		env:   []string{"PATH=" + filepath.Dir(bin["containerd"]) + string(os.PathListSeparator) + os.Getenv("PATH")},
		netns: n.namespace.name,
		group: n.group(),
		// Its socket exists before it answers; loading the images waits for an answer anyway.
		health: probe{socket: n.socket()},
	}
}

func (l layout) kubelet(bin binaries, n node) component {
	return component{
		name: n.component(kubeletName),
		exe:  bin["kubelet"],
		args: []string{
			"--config=" + l.nodeDir(n, "kubelet.yaml"),
			"--kubeconfig=" + l.clientConfig(n.client()),
			"--hostname-override=" + n.name,
			"--node-ip=" + n.address,
			"--node-labels=topology.kubernetes.io/zone=zone-" + strings.TrimPrefix(n.name, "n"),
			"--root-dir=" + l.nodeDir(n, "kubelet"),
			"--cert-dir=" + l.nodeDir(n, "kubelet-pki"),
		},
		netns:  n.namespace.name,
		group:  n.group(),
		health: probe{url: "http://" + n.address + ":" + kubeletHealthPort + "/healthz"},
		// All kubelets of a machine create a socket for device plugins at the same path, which no
		// flag changes. A kubelet that does so at the same moment as another one exits. An init
		// system would restart it too.
		retries: 3,
	}
}

func (l layout) kubeProxy(bin binaries, n node) component {
	return component{
		name: n.component(kubeProxyName),
		exe:  bin["kube-proxy"],
		args: []string{
			"--kubeconfig=" + l.clientConfig(kubeProxyClient),
			"--hostname-override=" + n.name,
			"--cluster-cidr=" + podRange,
			"--proxy-mode=iptables",
			"--healthz-bind-address=" + n.address + ":" + kubeProxyHealthPort,
			"--metrics-bind-address=" + loopback + ":10249",
			"--iptables-localhost-nodeports=false",
			// These settings belong to the machine and not to a network namespace.
			"--conntrack-max-per-core=0",
			"--conntrack-tcp-timeout-established=0",
			"--conntrack-tcp-timeout-close-wait=0",
		},
		netns:  n.namespace.name,
		group:  n.group(),
		health: probe{url: "http://" + n.address + ":" + kubeProxyHealthPort + "/healthz"},
	}
}

// nodePrograms returns the components of a node in the order of their dependencies.
func (l layout) nodePrograms(bin binaries, n node) []component {
	return []component{l.containerd(bin, n), l.kubelet(bin, n), l.kubeProxy(bin, n)}
}

// identity returns the identity of the node in the cluster.
func (n node) identity() identity {
	return identity{name: "system:node:" + n.name, groups: []string{"system:nodes"}, hosts: []string{n.name, n.address}}
}

// longestSocketDir leaves room for the suffix that the kubelet appends: the kernel accepts names of
// sockets up to 107 characters.
const longestSocketDir = 107 - len("/device-plugins/kubelet.sock")

func (l layout) checkNodeDir(n node) error {
	if dir := l.nodeDir(n, "kubelet"); len(dir) > longestSocketDir {
		return fmt.Errorf(
			"the directory of the cluster's kubelets, %s, has %d characters, and sockets in it must have at most 107: choose a --dir of at most %d",
			dir, len(dir), longestSocketDir-(len(dir)-len(l.dir)))
	}
	return nil
}
