// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command cluster builds, starts, checks and stops a Kubernetes control plane with fake nodes, real
// nodes, or both, and registers the aggregated StatefulSet API server with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// command is one subcommand. run receives its arguments without its name.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"build", "build missing binaries of the cluster", runBuild},
		{"up", "start the cluster, or repair one that is partly down", runUp},
		{"register", "register and start the aggregated API server", runRegister},
		{"server", "stop, wipe or start the registered API server", runServer},
		{"node", "disconnect, reconnect, stop, start or wipe a node", runNode},
		{"image-load", "load images into the real nodes", runImageLoad},
		{"status", "show every component's process and health", runStatus},
		{"down", "stop the cluster", runDown},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	err := dispatch(ctx, args, out)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "cluster: %v\n", err)
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintf(errOut, "cluster: interrupted: %v\n", err)
		return exitInterrupted
	default:
		fmt.Fprintf(errOut, "cluster: %v\n", err)
		return exitFailed
	}
}

func dispatch(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return usageError{"no subcommand: want one of " + commandNames()}
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		printHelp(out)
		return nil
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], out)
		}
	}
	return usageError{fmt.Sprintf("unknown subcommand %q: want one of %s", args[0], commandNames())}
}

func commandNames() string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

func printHelp(out io.Writer) {
	fmt.Fprintln(out,
		"A Kubernetes control plane with fake nodes, on the loopback interface, or with real ones, in network namespaces.\n\nUsage: cluster SUBCOMMAND [flags]")
	fmt.Fprintln(out)
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprintln(out, "\ncluster SUBCOMMAND --help lists the flags of one subcommand.")
}
