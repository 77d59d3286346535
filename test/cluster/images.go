// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sync/errgroup"
)

func imagesFlag(fs *flag.FlagSet) *string {
	return fs.String("images", "bin/images", "`directory` of the image archives to load into real nodes; make images creates them")
}

func runImageLoad(ctx context.Context, args []string, out io.Writer) error {
	fs := newFlags("image-load", "[--dir DIR] [--images DIR]", out)
	dir, images, modules := dirFlag(fs), imagesFlag(fs), modulesFlag(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	s, bin, release, err := openNodes(ctx, *dir, *modules, out)
	if err != nil {
		return err
	}
	defer release()
	return s.loadImages(ctx, bin, *images, s.nodes()...)
}

// loadImages loads all images of a directory into nodes.
func (s *supervisor) loadImages(ctx context.Context, bin binaries, dir string, nodes ...node) error {
	dir, err := absolute("images", dir)
	if err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil || len(archives) == 0 {
		return errors.Join(fmt.Errorf("there are no image archives in %s: run make images", dir), err)
	}
	loading, ctx := errgroup.WithContext(ctx)
	for _, n := range nodes {
		loading.Go(func() error { return load(ctx, bin, n, archives) })
	}
	if err := loading.Wait(); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "loaded %d images into %d nodes\n", len(archives), len(nodes))
	return nil
}

func load(ctx context.Context, bin binaries, n node, archives []string) error {
	for _, archive := range archives {
		output, err := exec.CommandContext(ctx, bin["ctr"], "--address="+n.socket(), "--namespace=k8s.io", "images", "import",
			archive).CombinedOutput()
		if err != nil {
			return fmt.Errorf("loading %s into node %s: %w:\n%s", archive, n.name, err, lastLines(string(output)))
		}
	}
	return nil
}

// shimSockets is the directory in which every containerd keeps the sockets of its shims.
const shimSockets = "/run/containerd/s"

// removeDeadSockets removes the sockets of shims that have ended: those of nodes that lost their
// power.
func removeDeadSockets() error {
	sockets, err := filepath.Glob(filepath.Join(shimSockets, "*"))
	if err != nil {
		return fmt.Errorf("listing sockets: %w", err)
	}
	var failed []error
	for _, path := range sockets {
		connection, err := net.Dial("unix", path) //nolint:noctx // the kernel refuses or accepts it at once
		if err == nil {
			failed = append(failed, connection.Close())
			continue
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			failed = append(failed, os.Remove(path))
		}
	}
	return errors.Join(failed...)
}
