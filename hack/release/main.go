// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release creates the files that users get. It builds container images without a container
// engine.
//
//	release images --out DIR [IMAGE...]         an OCI archive of each image that is not optional,
//	                                            or of the named images
//	release push --registry REGISTRY --tag TAG  pushes the images of the server and the plugin
//	release all --version VERSION --out DIR     all files of a release
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	subcommands := map[string]func(context.Context, []string, io.Writer) error{"images": runImages, "push": runPush, "all": runAll}
	if len(args) > 0 && subcommands[args[0]] != nil {
		return subcommands[args[0]](ctx, args[1:], out)
	}
	return errors.New("want one of the subcommands images, push and all; for flags, add --help after it")
}

// sourceFlags adds the flags for the source, and for the creation time of the files.
func sourceFlags(fs *flag.FlagSet) (from *source, created *string) {
	from = &source{}
	fs.StringVar(&from.root, "source", ".", "`directory` of the work tree")
	fs.StringVar(&from.stamp, "stamp", "", "linker flags that set the version")
	created = fs.String("created", "",
		"creation `time` of the files, such as 2026-11-22T12:00:00Z; use the time of the commit for reproducible files")
	return from, created
}

func archFlag(fs *flag.FlagSet) *string {
	return fs.String("arch", "amd64,arm64", "`architectures` of the images of the server and the plugin; all others are for the architecture of this machine")
}

func runImages(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("images", flag.ContinueOnError)
	from, created := sourceFlags(fs)
	arch := archFlag(fs)
	to := fs.String("out", "bin/images", "`directory` to write to")
	if err := fs.Parse(args); err != nil {
		return err
	}
	at, err := parseTime(*created)
	if err != nil {
		return err
	}
	// Programs are built in the directories of their modules.
	if from.kept, err = filepath.Abs(filepath.Join(*to, keptDir)); err != nil {
		return fmt.Errorf("finding the directory of images: %w", err)
	}
	all := images(strings.Split(*arch, ","))
	for _, name := range fs.Args() {
		if !slices.ContainsFunc(all, func(i imageSpec) bool { return i.name == name }) {
			return fmt.Errorf("unknown image %q", name)
		}
	}
	for _, spec := range all {
		if fs.NArg() > 0 && !slices.Contains(fs.Args(), spec.name) || fs.NArg() == 0 && spec.optional {
			continue
		}
		if err := from.writeImage(ctx, spec, at, *to, out); err != nil {
			return fmt.Errorf("creating image %s: %w", spec.name, err)
		}
	}
	return nil
}
