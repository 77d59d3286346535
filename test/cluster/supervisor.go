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
	"time"
)

const (
	// readyWithin is generous: on a machine that also compiles, kube-apiserver alone can need half
	// a minute.
	readyWithin = 3 * time.Minute
	readyPoll   = 200 * time.Millisecond
	// recoverWithin is how long an unhealthy component may take to recover before it is restarted.
	recoverWithin = 15 * time.Second
	stopGrace     = 20 * time.Second
)

// supervisor starts and stops components and remembers which of them this command started.
type supervisor struct {
	layout
	state   *state
	out     io.Writer
	started []string
}

func newSupervisor(dir string, out io.Writer) (*supervisor, error) {
	s, err := loadState(dir)
	if err != nil {
		return nil, err
	}
	return &supervisor{layout: layout{dir: dir, ports: s.Ports, net: s.Network}, state: s, out: out}, nil
}

// openToStart returns the supervisor of a directory that no other command changes, while no other
// cluster starts, until release is called.
func openToStart(ctx context.Context, dir string, out io.Writer) (s *supervisor, release func(), err error) {
	unlockDir, err := lockDir(dir)
	if err != nil {
		return nil, nil, err
	}
	unlockStart, err := lockStart(ctx, out)
	if err != nil {
		unlockDir()
		return nil, nil, err
	}
	release = func() {
		unlockStart()
		unlockDir()
	}
	if s, err = newSupervisor(dir, out); err != nil {
		release()
		return nil, nil, err
	}
	return s, release, nil
}

// alive reports whether the component's recorded process is running.
func (s *supervisor) alive(name string) bool {
	p, ok := s.state.Processes[name]
	return ok && p.alive()
}

// assignPort assigns a port to a listener that is not running: its previous port, its default, or
// another one if that is in use.
func (s *supervisor) assignPort(ctx context.Context, name string) error {
	if s.net != nil {
		// The namespace has no other listeners.
		s.ports[name] = usualPorts()[name]
		return s.state.save()
	}
	wanted, remembered := s.ports[name]
	if !remembered {
		wanted = usualPorts()[name] + s.state.PortOffset
	}
	delete(s.ports, name)
	port, err := choosePort(ctx, wanted, s.ports)
	if err != nil {
		return fmt.Errorf("finding a port for %s: %w", name, err)
	}
	if port != wanted {
		fmt.Fprintf(s.out, "port %d of %s is in use: using %d\n", wanted, name, port)
	}
	s.ports[name] = port
	return s.state.save()
}

// ensure brings a group of components, which do not wait for each other, to a healthy state.
func (s *supervisor) ensure(ctx context.Context, group ...component) error {
	begun := time.Now()
	var starting []component
	for _, c := range group {
		if s.keeps(ctx, c) {
			continue
		}
		if err := s.restart(c); err != nil {
			return err
		}
		starting = append(starting, c)
	}
	for _, c := range starting {
		if err := s.waitStarted(ctx, c); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s is ready (%s)\n", c.name, elapsed(begun))
	}
	return nil
}

// waitStarted waits until a component is healthy, and restarts it, with increasing delay, if it
// exits before.
func (s *supervisor) waitStarted(ctx context.Context, c component) error {
	delay := readyPoll
	for tries := c.retries; ; tries-- {
		err := s.waitHealthy(ctx, c, readyWithin)
		if tries == 0 || !errors.As(err, &deadError{}) {
			return err
		}
		fmt.Fprintf(s.out, "%s exited, restarting it\n", c.name)
		if err := pause(ctx, delay); err != nil {
			return fmt.Errorf("waiting to restart %s: %w", c.name, err)
		}
		delay *= 2
		if err := s.restart(c); err != nil {
			return err
		}
	}
}

// keeps reports whether the component runs as described and is healthy, so that it need not be
// restarted.
func (s *supervisor) keeps(ctx context.Context, c component) bool {
	p, ok := s.state.Processes[c.name]
	if !ok || !p.alive() || !p.runs(c.exe) || !slices.Equal(p.Args, c.args) {
		return false
	}
	return s.waitHealthy(ctx, c, recoverWithin) == nil
}

func (s *supervisor) restart(c component) error {
	if err := s.stop(c.name); err != nil {
		return err
	}
	if err := os.MkdirAll(s.path("logs"), 0o700); err != nil {
		return fmt.Errorf("creating the log directory: %w", err)
	}
	p, err := startProcess(c, s.log(c.name))
	if err != nil {
		return err
	}
	s.started = append(s.started, c.name)
	return s.state.setProcess(c.name, p)
}

// waitHealthy polls the component's health until it is healthy, its process exits, or the time is
// over.
func (s *supervisor) waitHealthy(ctx context.Context, c component, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		_, unhealthy := c.health.get(ctx)
		if !s.alive(c.name) {
			return deadError{name: c.name, log: s.log(c.name)}
		}
		if unhealthy == nil {
			return nil
		}
		if err := pause(ctx, readyPoll); err != nil {
			return s.gaveUp(c.name, err, unhealthy)
		}
	}
}

func (s *supervisor) gaveUp(name string, waitErr, last error) error {
	if errors.Is(waitErr, context.Canceled) {
		return fmt.Errorf("waiting for %s: %w", name, waitErr)
	}
	return fmt.Errorf("%s did not become ready in time (%w); last lines of %s:\n%s", name, last, s.log(name), logTail(s.log(name)))
}

// stop stops a component, if it runs, and forgets its process.
func (s *supervisor) stop(name string) error {
	p, ok := s.state.Processes[name]
	if !ok {
		return nil
	}
	if err := p.stop(stopGrace); err != nil {
		return fmt.Errorf("stopping %s: %w", name, err)
	}
	return s.state.forget(name)
}

// stopAll stops every component in the reverse of the starting order, and continues after a
// failure.
func (s *supervisor) stopAll() error {
	var failed []error
	for _, name := range slices.Backward(s.startOrder()) {
		was := s.alive(name)
		if err := s.stop(name); err != nil {
			failed = append(failed, err)
		} else if was {
			fmt.Fprintf(s.out, "stopped %s\n", name)
		}
	}
	return errors.Join(failed...)
}

// abandon stops what this command started, after a failure or an interrupt, so that the next
// command starts from a clean state.
func (s *supervisor) abandon(cause error) error {
	for _, name := range slices.Backward(s.startOrder()) {
		if !slices.Contains(s.started, name) {
			continue
		}
		if err := s.stop(name); err != nil {
			return errors.Join(cause, err)
		}
		fmt.Fprintf(s.out, "stopped %s, which this command had started\n", name)
	}
	return cause
}
