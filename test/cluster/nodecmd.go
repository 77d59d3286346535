// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// nodeVerb is an action on one node.
type nodeVerb struct {
	name, summary string
	do            func(ctx context.Context, s *supervisor, bin binaries, images string, n node) error
}

func nodeVerbs() []nodeVerb {
	return []nodeVerb{
		{"cut", "unplug its network cable: its processes continue, but cannot be reached",
			func(ctx context.Context, _ *supervisor, _ binaries, _ string, n node) error {
				return ip(ctx, "link set "+n.link+" down")
			}},
		{"heal", "plug the cable in again", func(ctx context.Context, _ *supervisor, _ binaries, _ string, n node) error {
			return ip(ctx, "link set "+n.link+" up")
		}},
		{"stop", "cut its power: its processes end at once, its disk stays",
			func(ctx context.Context, s *supervisor, _ binaries, _ string, n node) error {
				return s.powerOff(ctx, n)
			}},
		{"leave", "stop its kubelet: its pods continue to run unmanaged",
			func(_ context.Context, s *supervisor, _ binaries, _ string, n node) error {
				return s.stop(n.component(kubeletName))
			}},
		{"start", "switch it on again, or start its missing programs",
			func(ctx context.Context, s *supervisor, bin binaries, images string, n node) error {
				return s.powerOn(ctx, bin, images, n)
			}},
		{"wipe", "stop it and delete its disk: its images, its pods and the data of its volumes",
			func(ctx context.Context, s *supervisor, _ binaries, _ string, n node) error {
				if err := s.powerOff(ctx, n); err != nil {
					return err
				}
				return os.RemoveAll(s.nodeDir(n))
			}},
	}
}

func runNode(ctx context.Context, args []string, out io.Writer) error {
	var synopsis strings.Builder
	synopsis.WriteString("VERB NODE [--dir DIR] [--images DIR]\n\nVERB is one of")
	for _, v := range nodeVerbs() {
		fmt.Fprintf(&synopsis, "\n  %-6s %s", v.name, v.summary)
	}
	fs := newFlags("node", synopsis.String(), out)
	dir, images, modules := dirFlag(fs), imagesFlag(fs), modulesFlag(fs)
	words := min(len(args), 2)
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }); i >= 0 {
		words = min(words, i)
	}
	if err := parse(fs, args[words:]); err != nil {
		return err
	}
	if words < 2 {
		return usageError{"node: want a verb and the name of a node, such as: cluster node cut n1"}
	}
	all := nodeVerbs()
	i := slices.IndexFunc(all, func(v nodeVerb) bool { return v.name == args[0] })
	if i < 0 {
		return usageError{fmt.Sprintf("node: unknown verb %q: want one of cut, heal, stop, leave, start, wipe", args[0])}
	}
	s, bin, release, err := openNodes(ctx, *dir, *modules, out)
	if err != nil {
		return err
	}
	defer release()
	n, err := s.nodeNamed(args[1])
	if err != nil {
		return err
	}
	if err := all[i].do(ctx, s, bin, *images, n); err != nil {
		return fmt.Errorf("node %s: %s: %w", n.name, args[0], err)
	}
	fmt.Fprintf(out, "node %s: %s\n", n.name, args[0])
	return nil
}

// openNodes opens a cluster that has real nodes.
func openNodes(ctx context.Context, dir, modules string, out io.Writer) (*supervisor, binaries, func(), error) {
	target, err := absolute("dir", dir)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := releaseFor(target, "")
	if err != nil {
		return nil, nil, nil, err
	}
	bin, err := buildAll(ctx, r, true, modules, out)
	if err != nil {
		return nil, nil, nil, err
	}
	unlock, err := lockDir(target)
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := newSupervisor(target, out)
	if err == nil && s.net == nil {
		err = fmt.Errorf("the cluster in %s has no real nodes: start one with cluster up --nodes=real or --nodes=mixed", target)
	}
	if err != nil {
		unlock()
		return nil, nil, nil, err
	}
	s.kubernetes = r
	return s, bin, unlock, nil
}

func (s *supervisor) nodeNamed(name string) (node, error) {
	var names []string
	for _, n := range s.nodes() {
		if n.name == name {
			return n, nil
		}
		names = append(names, n.name)
	}
	return node{}, usageError{fmt.Sprintf("node: unknown node %q: want one of %s", name, strings.Join(names, ", "))}
}

// powerOn starts a node that was stopped or wiped.
func (s *supervisor) powerOn(ctx context.Context, bin binaries, images string, n node) error {
	if err := s.writeNode(bin, n); err != nil {
		return err
	}
	return s.startNodes(ctx, bin, images, n)
}
