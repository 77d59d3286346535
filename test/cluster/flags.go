// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
)

// usageError is a mistake on the command line; it ends the command with exit code 2.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// newFlags returns a flag set that reports mistakes as usageError through parse, and prints help to
// out.
func newFlags(name, synopsis string, out io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {
		fmt.Fprintf(out, "Usage: cluster %s %s\n\n", name, synopsis)
		fs.SetOutput(out)
		fs.PrintDefaults()
	}
	return fs
}

func parse(fs *flag.FlagSet, args []string) error {
	// The flag package also calls Usage for mistakes, but those get one line instead of the whole
	// help.
	usage := fs.Usage
	fs.Usage = func() {}
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		usage()
		return err
	}
	if err != nil {
		return usageError{fmt.Sprintf("%s: %v (see cluster %s --help)", fs.Name(), err, fs.Name())}
	}
	if fs.NArg() > 0 {
		return usageError{fmt.Sprintf("%s: unexpected argument %q (see cluster %s --help)", fs.Name(), fs.Arg(0), fs.Name())}
	}
	return nil
}

func dirFlag(fs *flag.FlagSet) *string {
	return fs.String("dir", ".cluster", "`directory` that holds the cluster's data, logs and kubeconfig")
}

func modulesFlag(fs *flag.FlagSet) *string {
	return fs.String("modules", "",
		"`directory` of the modules from which the binaries are built (default: test/cluster/modules of this work tree)")
}

// splitExtra separates the arguments before the first "--" from those after it.
func splitExtra(args []string) (own, extra []string) {
	for i, a := range args {
		if a == "--" {
			return args[:i], args[i+1:]
		}
	}
	return args, nil
}

// absolute resolves a path on the command line, so that it stays valid in recorded arguments, even
// if a link in it is deleted.
func absolute(flagName, path string) (string, error) {
	if path == "" {
		return "", usageError{fmt.Sprintf("--%s is empty: specify a path", flagName)}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolving --%s %q: %w", flagName, path, err)
	}
	if target, err := filepath.EvalSymlinks(abs); err == nil {
		return target, nil
	}
	return abs, nil // it does not exist yet
}
