// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// network is the network of a cluster with real nodes: a bridge of this machine that connects the
// network namespaces of the control plane and of each node. No process of the cluster listens
// outside of these namespaces.
type network struct {
	// Name is the prefix of the names of the bridge, the namespaces and the control groups. It
	// distinguishes them from those of other clusters.
	Name string `json:"name"`
	// Prefix is the common prefix of all addresses of the cluster, such as 10.89.7.
	Prefix string `json:"prefix"`
	// Nodes is the number of real nodes.
	Nodes int `json:"nodes"`
	// Mixed is true if the cluster also has fake nodes, which the network does not reach.
	Mixed bool `json:"mixed,omitempty"`
}

const (
	netnsDir = "/run/netns"
	podRange = "10.244.0.0/16"
	// fakePodRange contains the addresses of fake pods next to real ones. Nothing is routed there.
	fakePodRange = "10.245.0.1/16"
	serviceRange = "10.96.0.0/16"
	// maxNodes keeps addresses and pod ranges within a byte.
	maxNodes = 100
)

// namespace is a network namespace with one address.
type namespace struct {
	name, address string
	// link is the end of its cable in the bridge. Setting it down is like unplugging the cable.
	link string
}

// newNetwork derives names and addresses from the directory, so that several clusters can run, and
// chooses addresses that are free.
func newNetwork(dir string, wanted nodesWanted) (*network, error) {
	sum := sha256.Sum256([]byte(dir))
	taken, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("listing the addresses of this machine: %w", err)
	}
	for i := range 256 {
		prefix := fmt.Sprintf("10.89.%d", (int(sum[0])+i)%256)
		if !slices.ContainsFunc(taken, func(a net.Addr) bool { return strings.HasPrefix(a.String(), prefix+".") }) {
			return &network{Name: "sts" + hex.EncodeToString(sum[:3]), Prefix: prefix, Nodes: wanted.real, Mixed: wanted.mixed}, nil
		}
	}
	return nil, errors.New("no network in 10.89.0.0/16 is free: stop other clusters")
}

// gateway returns the address of this machine in the network.
func (n *network) gateway() string { return n.Prefix + ".1" }

// space returns the namespace of one machine of the cluster.
func (n *network) space(machine string, last int) namespace {
	return namespace{name: n.Name + "-" + machine, address: fmt.Sprintf("%s.%d", n.Prefix, last), link: n.Name + machine}
}

func (n *network) controlPlane() namespace { return n.space("cp", 2) }

func (n *network) nodes() []node {
	var all []node
	for i := 1; i <= n.Nodes; i++ {
		all = append(all,
			node{namespace: n.space(fmt.Sprintf("n%d", i), 10+i), name: fmt.Sprintf("n%d", i), net: n, pods: fmt.Sprintf("10.244.%d", i)})
	}
	return all
}

// ensure creates the missing parts of the network.
func (n *network) ensure(ctx context.Context) error {
	if !isThere("/sys/class/net/" + n.Name) {
		if err := ip(ctx, "link add "+n.Name+" type bridge", "addr add "+n.gateway()+"/24 dev "+n.Name, "link set "+n.Name+" up"); err != nil {
			return err
		}
	}
	if err := n.join(ctx, n.controlPlane()); err != nil {
		return err
	}
	for _, one := range n.nodes() {
		if err := n.join(ctx, one.namespace); err != nil {
			return err
		}
	}
	return n.route(ctx)
}

// join creates a namespace, and a cable from it to the bridge.
func (n *network) join(ctx context.Context, s namespace) error {
	if isThere(filepath.Join(netnsDir, s.name)) {
		return nil
	}
	if err := ip(ctx,
		"netns add "+s.name,
		"link add "+s.link+" type veth peer name eth0 netns "+s.name,
		"link set "+s.link+" master "+n.Name+" up",
		"-n "+s.name+" link set lo up",
		"-n "+s.name+" addr add "+s.address+"/24 dev eth0",
		"-n "+s.name+" link set eth0 up",
	); err != nil {
		return err
	}
	return inNetns(s.name, func() error {
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600); err != nil {
			return fmt.Errorf("enabling IP forwarding in %s: %w", s.name, err)
		}
		return nil
	})
}

// route adds the routes from every machine to the pods of each node.
func (n *network) route(ctx context.Context) error {
	for _, to := range n.nodes() {
		from := []namespace{n.controlPlane()}
		for _, other := range n.nodes() {
			if other.name != to.name {
				from = append(from, other.namespace)
			}
		}
		for _, s := range from {
			if err := ip(ctx, "-n "+s.name+" route replace "+to.pods+".0/24 via "+to.address); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes the network. Nothing may run in it any more.
func (n *network) remove(ctx context.Context) error {
	spaces := []namespace{n.controlPlane()}
	for _, one := range n.nodes() {
		spaces = append(spaces, one.namespace)
	}
	var failed []error
	for _, s := range spaces {
		// This deletes the cable at once; with the namespace it would vanish some time later.
		if isThere("/sys/class/net/" + s.link) {
			failed = append(failed, ip(ctx, "link delete "+s.link))
		}
		if isThere(filepath.Join(netnsDir, s.name)) {
			failed = append(failed, ip(ctx, "netns delete "+s.name))
		}
	}
	if isThere("/sys/class/net/" + n.Name) {
		failed = append(failed, ip(ctx, "link delete "+n.Name))
	}
	return errors.Join(failed...)
}

// unplug removes the cables of all pods of a node. With the namespace of a pod, its cable would
// vanish some time later, together with the route to a later pod that has the same address.
func (s namespace) unplug(ctx context.Context) error {
	if !isThere(filepath.Join(netnsDir, s.name)) {
		return nil
	}
	listed, err := exec.CommandContext(ctx, "ip", "-n", s.name, "-o", "link", "show", "type", "veth").Output()
	if err != nil {
		return fmt.Errorf("listing the network links of %s: %w", s.name, err)
	}
	var failed []error
	for line := range strings.Lines(string(listed)) {
		_, line, _ = strings.Cut(line, ": ")
		if name, _, _ := strings.Cut(line, "@"); name != "eth0" {
			failed = append(failed, ip(ctx, "-n "+s.name+" link delete "+name))
		}
	}
	return errors.Join(failed...)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// ip runs commands of iproute2, one after the other.
func ip(ctx context.Context, commands ...string) error {
	for _, c := range commands {
		if output, err := exec.CommandContext(ctx, "ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", c, err, lastLines(string(output)))
		}
	}
	return nil
}
