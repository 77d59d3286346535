// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"statefulset.dev/test/harness"
)

// poll is the polling interval for conditions without notifications.
const poll = 10 * time.Millisecond

// Process is a started program.
type Process struct {
	Program

	cmd    *exec.Cmd
	exited chan struct{}
}

// Start starts a program and waits until it is ready. At the end of the test, it is killed if it
// still runs.
func (l *Lab) Start(t testing.TB, program Program) *Process {
	t.Helper()
	p := l.Launch(t, program)
	if err := p.AwaitReady(t.Context()); err != nil {
		t.Fatalf("starting %s: %v", program.Name, err)
	}
	return p
}

// Launch starts a program without waiting for it.
func (l *Lab) Launch(t testing.TB, program Program) *Process {
	t.Helper()
	p, err := l.launch(program)
	if err != nil {
		t.Fatalf("starting %s: %v", program.Name, err)
	}
	t.Cleanup(func() { p.kill() })
	return p
}

func (l *Lab) launch(program Program) (*Process, error) {
	log, err := os.OpenFile(l.LogOf(program.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()
	fmt.Fprintf(log, "--- started %s: %s %s\n", time.Now().UTC().Format(time.RFC3339Nano), program.Exe, strings.Join(program.Args, " "))
	// The test decides when it ends, also with a signal that a context cannot send.
	cmd := exec.CommandContext(context.Background(), program.Exe, program.Args...)
	cmd.Stdout, cmd.Stderr = log, log
	// In its own session, so that an interrupt in a terminal does not reach it before the test has
	// handled it. It never lives longer than the test.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{Program: program, cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait()
	}()
	return p, nil
}

// LogOf returns the log file of programs with a name.
func (l *Lab) LogOf(name string) string { return l.Path("logs", name+".log") }

// PID returns the PID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// AwaitReady waits until the process is ready, and returns an error if the process or the context
// ends before.
func (p *Process) AwaitReady(ctx context.Context) error {
	if p.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := p.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended (%s) before it became ready: %w", p.cmd.ProcessState, err)
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", errors.Join(err, ctx.Err()))
		case <-time.After(poll):
		}
	}
}

// Kill kills the process with SIGKILL, also a paused one, and returns when it has ended.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	if !p.kill() {
		t.Fatalf("%s, pid %d, is still running %s after SIGKILL", p.Name, p.PID(), patience)
	}
}

func (p *Process) kill() bool {
	_ = p.cmd.Process.Kill()
	return p.gone(patience)
}

// Stop ends the process with SIGTERM, and returns when it has ended. It fails the test if that
// takes longer than the grace period.
func (p *Process) Stop(t testing.TB, grace time.Duration) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	if !p.gone(grace) {
		t.Fatalf("%s, pid %d, is still running %s after SIGTERM", p.Name, p.PID(), grace)
	}
}

// Pause stops the process with SIGSTOP and returns when all its threads have stopped.
func (p *Process) Pause(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGSTOP)
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if s, err := stat(p.PID()); err != nil || s.state == 'T' {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s, pid %d, did not stop within %s of SIGSTOP", p.Name, p.PID(), patience)
		}
	}
}

// Resume lets a paused process continue.
func (p *Process) Resume(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGCONT)
}

func (p *Process) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("sending %s to %s, pid %d: %v", signal, p.Name, p.PID(), err)
	}
}

func (p *Process) gone(within time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(within):
		return false
	}
}

// runs reports whether the recorded process, and not a later one with its PID, runs.
func runs(c harness.Component) bool {
	s, err := stat(c.PID)
	// While threads are left, files and ports are still open, whatever the state of the first
	// thread.
	return err == nil && s.startTicks == c.StartTicks && (s.state != 'Z' && s.state != 'X' || s.threads > 1)
}

type processStat struct {
	state      byte
	threads    int
	startTicks uint64
}

// stat reads the state of a process from /proc. The name before it may contain anything, so
// counting starts after its last bracket.
func stat(pid int) (processStat, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processStat{}, err
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) < 20 {
		return processStat{}, fmt.Errorf("reading /proc/%d/stat: got %d fields, want at least 20", pid, len(fields))
	}
	threads, threadsErr := strconv.Atoi(fields[17])
	startTicks, ticksErr := strconv.ParseUint(fields[19], 10, 64)
	return processStat{fields[0][0], threads, startTicks}, errors.Join(threadsErr, ticksErr)
}
