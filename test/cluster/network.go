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

// network is where a cluster with real nodes lives: a bridge of this machine, and network namespaces for the control plane and
// for each node that are joined by it. Nothing of it listens outside of these.
type network struct {
	// Name begins the names of the bridge, the namespaces and the control groups, which tells them from those of others.
	Name string `json:"name"`
	// Prefix is what all addresses of the cluster begin with, such as 10.89.7.
	Prefix string `json:"prefix"`
	// Nodes is how many nodes there are.
	Nodes int `json:"nodes"`
	// Mixed is whether the cluster has fake nodes besides, which nothing of the network leads to.
	Mixed bool `json:"mixed,omitempty"`
}

const (
	netnsDir = "/run/netns"
	podRange = "10.244.0.0/16"
	// fakePodRange has the addresses of pods that only seem to run beside real ones. Nothing is routed there.
	fakePodRange = "10.245.0.1/16"
	serviceRange = "10.96.0.0/16"
	// maxNodes keeps addresses and pod ranges within a byte.
	maxNodes = 100
)

// namespace is a network namespace with one address.
type namespace struct {
	name, address string
	// link is the end of its cable that is in the bridge. To take it down is to pull the cable.
	link string
}

// newNetwork chooses names and addresses that follow from the directory, so that several clusters have room, and that nobody has.
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
	return nil, errors.New("no network of 10.89.0.0/16 is free: stop other clusters")
}

// gateway is the address of this machine in the network.
func (n *network) gateway() string { return n.Prefix + ".1" }

// space is the namespace of one machine of the cluster.
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

// ensure makes what there is not yet of the network.
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

// join makes a namespace, and a cable from it to the bridge.
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
			return fmt.Errorf("letting %s pass on packets: %w", s.name, err)
		}
		return nil
	})
}

// route leads packets for pods to their node.
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

// remove takes the network away. Nothing may run in it any more.
func (n *network) remove(ctx context.Context) error {
	spaces := []namespace{n.controlPlane()}
	for _, one := range n.nodes() {
		spaces = append(spaces, one.namespace)
	}
	var failed []error
	for _, s := range spaces {
		// The cable goes at once; with the namespace it would go some time later.
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

// unplug removes the cables of all pods of a node. With the namespace of a pod its cable would go some time later, and take
// along the route to a later pod of the same address.
func (s namespace) unplug(ctx context.Context) error {
	if !isThere(filepath.Join(netnsDir, s.name)) {
		return nil
	}
	listed, err := exec.CommandContext(ctx, "ip", "-n", s.name, "-o", "link", "show", "type", "veth").Output()
	if err != nil {
		return fmt.Errorf("listing the cables of %s: %w", s.name, err)
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
