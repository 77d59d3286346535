// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// serverVerb is an action on the registered API server.
type serverVerb struct {
	name, summary string
	do            func(ctx context.Context, s *supervisor, p process) error
}

func serverVerbs() []serverVerb {
	return []serverVerb{
		{"stop", "stop it; its store stays", func(_ context.Context, _ *supervisor, p process) error {
			return p.stop(stopGrace)
		}},
		{"wipe", "stop it and delete its store", func(_ context.Context, _ *supervisor, p process) error {
			store := flagOf(p.Args, "--data-dir")
			if store == "" {
				return errors.New("it has no embedded store")
			}
			if err := p.stop(stopGrace); err != nil {
				return err
			}
			return os.RemoveAll(store)
		}},
		{"start", "start it with the same arguments, and wait until it answers, even if it refuses its store",
			func(ctx context.Context, s *supervisor, p process) error {
				return s.startAgain(ctx, p)
			}},
	}
}

func runServer(ctx context.Context, args []string, out io.Writer) error {
	var synopsis, names strings.Builder
	synopsis.WriteString("VERB [--dir DIR]\n\nVERB is one of")
	for i, v := range serverVerbs() {
		fmt.Fprintf(&synopsis, "\n  %-6s %s", v.name, v.summary)
		names.WriteString(strings.Repeat(", ", min(i, 1)) + v.name)
	}
	fs := newFlags("server", synopsis.String(), out)
	dir := dirFlag(fs)
	words := 0
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		words = 1
	}
	if err := parse(fs, args[words:]); err != nil {
		return err
	}
	if words == 0 {
		return usageError{"server: want a verb, such as: cluster server stop"}
	}
	all := serverVerbs()
	i := slices.IndexFunc(all, func(v serverVerb) bool { return v.name == args[0] })
	if i < 0 {
		return usageError{fmt.Sprintf("server: unknown verb %q: want one of %s", args[0], names.String())}
	}
	target, err := absolute("dir", *dir)
	if err != nil {
		return err
	}
	unlock, err := lockDir(target)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := newSupervisor(target, out)
	if err != nil {
		return err
	}
	// A server that this command has stopped is still recorded, so that it can be started with the
	// same arguments.
	p, ok := s.state.Processes[aggregatedName]
	if !ok {
		return fmt.Errorf("the cluster in %s has no API server that runs as a local process: start one with cluster register", target)
	}
	if err := all[i].do(ctx, s, p); err != nil {
		return fmt.Errorf("server: %s: %w", args[0], err)
	}
	fmt.Fprintf(out, "server: %s\n", args[0])
	return nil
}

func (s *supervisor) startAgain(ctx context.Context, p process) error {
	if p.alive() {
		return nil
	}
	c := component{name: aggregatedName, exe: p.Exe, args: p.Args, health: s.aggregatedProbe()}
	c.health.url = s.url(aggregatedName) + "/livez"
	if err := s.restart(c); err != nil {
		return err
	}
	if err := s.waitHealthy(ctx, c, readyWithin); err != nil {
		return s.abandon(err)
	}
	return s.nudge(ctx)
}

// flagOf returns the value of a flag among arguments, empty if the flag is missing.
func flagOf(args []string, name string) string {
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
	}
	return ""
}
