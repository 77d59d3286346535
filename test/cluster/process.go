// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process identifies a started process across commands: its PID alone may belong to another process
// since.
type process struct {
	PID int `json:"pid"`
	// StartTicks is the kernel's start time of the process, in clock ticks since boot.
	StartTicks uint64   `json:"startTicks"`
	Exe        string   `json:"exe"`
	Args       []string `json:"args"`
	Log        string   `json:"log"`
}

const startMarker = "--- started "

// startProcess runs exe in a session of its own, so that an interrupt in the terminal does not
// reach it, with its output appended to logPath.
func startProcess(c component, logPath string) (process, error) {
	// The kernel names a process's executable by its real path.
	exe, err := filepath.EvalSymlinks(c.exe)
	if err != nil {
		return process{}, fmt.Errorf("finding the program to start: %w", err)
	}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return process{}, fmt.Errorf("opening log: %w", err)
	}
	defer log.Close()
	fmt.Fprintf(log, "%s%s: %s %s\n", startMarker, time.Now().UTC().Format(time.RFC3339), exe, strings.Join(c.args, " "))

	// The process outlives this command and so does not end with its context.
	cmd := exec.CommandContext(context.Background(), exe, c.args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := inNetns(c.netns, cmd.Start); err != nil {
		return process{}, fmt.Errorf("starting %s: %w", exe, err)
	}
	// Reaps the child if it ends while this command still runs; liveness is always read from /proc.
	go func() { _ = cmd.Wait() }()

	if err := c.group.add(cmd.Process.Pid); err != nil {
		return process{}, errors.Join(err, cmd.Process.Kill())
	}
	p := process{PID: cmd.Process.Pid, Exe: exe, Args: c.args, Log: logPath}
	if stat, err := readStat(p.PID); err == nil {
		p.StartTicks = stat.startTicks
	}
	return p, nil
}

// alive reports whether the recorded process, and not another one that got its PID, is still
// running.
func (p process) alive() bool {
	stat, err := readStat(p.PID)
	if err != nil || stat.startTicks != p.StartTicks {
		return false
	}
	if stat.state == 'Z' || stat.state == 'X' {
		return p.hasThreads()
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID))
	return err == nil && strings.TrimSuffix(exe, " (deleted)") == p.Exe
}

// hasThreads distinguishes a process whose first thread has ended, but which still holds its ports
// and files, from one that only waits to be reaped.
func (p process) hasThreads() bool {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
	return err == nil && len(threads) > 1
}

// runs reports whether the process still executes the file that is at its path now; a rebuilt
// binary is another file.
func (p process) runs(binary string) bool {
	running, err := os.Stat(fmt.Sprintf("/proc/%d/exe", p.PID))
	if err != nil {
		return false
	}
	onDisk, err := os.Stat(binary)
	return err == nil && os.SameFile(running, onDisk)
}

const (
	stopPoll = 50 * time.Millisecond
	// killWait is how long a process may take to vanish after SIGKILL.
	killWait = 10 * time.Second
)

// stop ends the process with SIGTERM and, after grace, with SIGKILL. It has no context, because
// cleaning up must work after an interrupt. It does nothing if the PID now belongs to another
// process.
func (p process) stop(grace time.Duration) error {
	// The handle is acquired before the identity is checked, so the signal cannot hit a later owner
	// of the PID.
	handle, err := os.FindProcess(p.PID)
	if err != nil || !p.alive() {
		return nil
	}
	defer func() { _ = handle.Release() }()
	for _, step := range []struct {
		signal os.Signal
		wait   time.Duration
	}{{syscall.SIGTERM, grace}, {syscall.SIGKILL, killWait}} {
		if err := handle.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) && p.alive() {
			return fmt.Errorf("sending %v to pid %d: %w", step.signal, p.PID, err)
		}
		if p.gone(step.wait) {
			return nil
		}
	}
	return fmt.Errorf("pid %d (%s) is still running after SIGKILL", p.PID, p.Exe)
}

func (p process) gone(within time.Duration) bool {
	for deadline := time.Now().Add(within); p.alive(); time.Sleep(stopPoll) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

type procStat struct {
	state      byte
	startTicks uint64
}

// readStat reads the state (field 3) and start time (field 22) of /proc/PID/stat. The command name,
// field 2, may contain spaces and brackets, so counting starts after its last bracket.
func readStat(pid int) (procStat, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	stat := string(raw)
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return procStat{}, fmt.Errorf("reading /proc/%d/stat: %w", pid, io.ErrUnexpectedEOF)
	}
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return procStat{}, fmt.Errorf("reading the start time in /proc/%d/stat: %w", pid, err)
	}
	return procStat{state: fields[0][0], startTicks: ticks}, nil
}
