// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

func runStatus(ctx context.Context, args []string, out io.Writer) error {
	fs := newFlags("status", "[--dir DIR]", out)
	dir := dirFlag(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	target, err := absolute("dir", *dir)
	if err != nil {
		return err
	}
	s, err := newSupervisor(target, out)
	if err != nil {
		return err
	}
	if len(s.state.Processes) == 0 {
		return fmt.Errorf("no cluster is running in %s: start one with cluster up --dir %s", target, *dir)
	}
	return s.status(ctx)
}

// status prints one line per component and returns an error that names the dead or unhealthy ones,
// with the ends of their logs.
func (s *supervisor) status(ctx context.Context) error {
	components := s.components()
	if s.registered() {
		components = append(components, component{name: aggregatedName, health: s.aggregatedProbe()})
	}
	var failed []error
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tPID\tSTATE\tHEALTH\tADDRESS\tLOG")
	for _, c := range components {
		row, err := s.statusOf(ctx, c)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", c.name, row.pid, row.state, row.health, s.shownAddress(c.name), s.log(c.name))
		failed = append(failed, err)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the status: %w", err)
	}
	return errors.Join(failed...)
}

// shownAddress returns the address of a component, "-" if it is unknown.
func (s *supervisor) shownAddress(name string) string {
	port, ok := s.ports[name]
	switch {
	case !ok:
		return "-"
	case name == aggregatedName:
		return localAddress(port)
	}
	return s.address(port)
}

type statusRow struct{ pid, state, health string }

func (s *supervisor) statusOf(ctx context.Context, c component) (statusRow, error) {
	p, started := s.state.Processes[c.name]
	if !started {
		return statusRow{pid: "-", state: "stopped", health: "-"}, fmt.Errorf("%s is stopped", c.name)
	}
	row := statusRow{pid: strconv.Itoa(p.PID), state: "alive", health: "ok"}
	if !p.alive() {
		row.state, row.health = "dead", "-"
		return row, deadError{name: c.name, log: p.Log}
	}
	if _, err := c.health.get(ctx); err != nil {
		row.health = "failing"
		return row, fmt.Errorf("%s is unhealthy: %w", c.name, err)
	}
	return row, nil
}
