// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// nodesWanted are the nodes that a cluster should have: the number of real nodes, and fake nodes if
// there are no real ones or mixed is true.
type nodesWanted struct {
	real  int
	mixed bool
}

const usualNodes = 3

func nodesFlag(fs *flag.FlagSet) *string {
	return fs.String("nodes", "",
		"`kind` of nodes: fake; real or real:N for N (default 3) nodes that run containers and need root; mixed or mixed:N for N (default 3) real nodes and the fake ones, which accept only pods with a toleration (default: the nodes of the existing cluster, else fake)")
}

// nodesFor returns the nodes with which to start a cluster directory. The kind of nodes of an
// existing cluster cannot change.
func nodesFor(dir, given string) (nodesWanted, error) {
	s, err := loadState(dir)
	if err != nil {
		return nodesWanted{}, err
	}
	wanted, err := parseNodes(given, s)
	if err != nil {
		return nodesWanted{}, err
	}
	if there, known := s.nodes(); known && there != wanted {
		return nodesWanted{},
			fmt.Errorf("the cluster in %s has %s nodes, not %s: use another --dir, or run cluster down --purge first", dir, there, wanted)
	}
	if wanted.real > 0 {
		return wanted, canHaveNodes()
	}
	return wanted, nil
}

func (w nodesWanted) String() string {
	switch {
	case w.real == 0:
		return "fake"
	case w.mixed:
		return fmt.Sprintf("mixed:%d", w.real)
	}
	return fmt.Sprintf("real:%d", w.real)
}

// nodes returns the nodes of a cluster, and true if the cluster has been started before.
func (s *state) nodes() (nodesWanted, bool) {
	if s.Network != nil {
		return nodesWanted{real: s.Network.Nodes, mixed: s.Network.Mixed}, true
	}
	return nodesWanted{}, s.Kubernetes != ""
}

func parseNodes(given string, s *state) (nodesWanted, error) {
	kind, number, counted := strings.Cut(given, ":")
	wanted := nodesWanted{real: usualNodes, mixed: kind == "mixed"}
	switch {
	case given == "":
		there, _ := s.nodes()
		return there, nil
	case given == "fake":
		return nodesWanted{}, nil
	case kind != "real" && kind != "mixed":
	case !counted:
		return wanted, nil
	default:
		if n, err := strconv.Atoi(number); err == nil && n >= 1 && n <= maxNodes {
			wanted.real = n
			return wanted, nil
		}
	}
	return nodesWanted{},
		usageError{fmt.Sprintf("--nodes %q: want fake, real, mixed, or real:N or mixed:N with N from 1 to %d", given, maxNodes)}
}

// connect creates the network of real nodes, or reuses the existing one.
func (s *supervisor) connect(ctx context.Context, wanted nodesWanted) error {
	if wanted.real == 0 {
		return nil
	}
	if s.net == nil {
		made, err := newNetwork(s.dir, wanted)
		if err != nil {
			return err
		}
		s.net, s.state.Network = made, made
		if err := s.state.save(); err != nil {
			return err
		}
	}
	return s.net.ensure(ctx)
}

// startNodes starts the programs of nodes and loads images into the nodes.
func (s *supervisor) startNodes(ctx context.Context, bin binaries, images string, nodes ...node) error {
	var runtimes, rest []component
	for _, n := range nodes {
		runtimes = append(runtimes, s.containerd(bin, n))
		rest = append(rest, s.kubelet(bin, n), s.kubeProxy(bin, n))
	}
	if len(nodes) == 0 {
		return nil
	}
	if err := s.ensure(ctx, runtimes...); err != nil {
		return err
	}
	if err := s.loadImages(ctx, bin, images, nodes...); err != nil {
		return err
	}
	return s.ensure(ctx, rest...)
}

// powerOff kills everything that runs on nodes, as if they lost their power, and removes their
// mounts. Their disks stay.
func (s *supervisor) powerOff(ctx context.Context, nodes ...node) error {
	var ending errgroup.Group
	for _, n := range nodes {
		ending.Go(func() error {
			if err := n.group().kill(); err != nil {
				return err
			}
			if err := n.unplug(ctx); err != nil {
				return err
			}
			// Their names would conflict with those of the next start.
			return errors.Join(unmountBelow(n.runtimeDir()), unmountBelow(s.nodeDir(n)), os.RemoveAll(n.runtimeDir()), n.group().remove())
		})
	}
	if err := ending.Wait(); err != nil {
		return err
	}
	for _, n := range nodes {
		for _, c := range s.nodePrograms(nil, n) {
			if err := s.state.forget(c.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// dismantle stops everything, and leaves only the disks of real nodes.
func (s *supervisor) dismantle(ctx context.Context) error {
	if s.net == nil {
		return s.stopAll()
	}
	if err := s.powerOff(ctx, s.nodes()...); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "stopped %d nodes\n", len(s.nodes()))
	if err := s.stopAll(); err != nil {
		return err
	}
	return errors.Join(s.net.remove(ctx), controlGroup(s.net.Name).remove(), os.RemoveAll(filepath.Join("/run", s.net.Name)),
		removeDeadSockets())
}
