// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// unreachable is the health of a component that never answers.
func unreachable() probe { return probe{url: "http://127.0.0.1:1/healthz"} }

func testSupervisor(t *testing.T, dir string) *supervisor {
	t.Helper()
	s, err := newSupervisor(dir, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shell(t *testing.T, script string) (exe string, args []string) {
	t.Helper()
	exe, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	return exe, []string{"-c", script}
}

func startScript(t *testing.T, script string) process {
	t.Helper()
	exe, args := shell(t, script)
	p, err := startProcess(component{exe: exe, args: args}, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(0); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestDyingComponentIsReportedWithItsLog(t *testing.T) {
	s := testSupervisor(t, t.TempDir())
	exe, args := shell(t, "for i in $(seq 30); do echo line-$i; done; echo bad flag; exit 3")
	c := component{name: kwokName, exe: exe, args: args, health: unreachable()}
	err := s.ensure(t.Context(), c)
	var dead deadError
	if !errors.As(err, &dead) || dead.name != kwokName {
		t.Fatalf("starting a program that exits: got error %v, want one that says that %s died", err, kwokName)
	}
	text := err.Error()
	for want, present := range map[string]bool{"bad flag": true, "line-30": true, "line-5\n": false, startMarker: false} {
		if got := strings.Contains(text, want); got != present {
			t.Errorf("error contains %q: got %v, want %v; the error: %s", want, got, present, text)
		}
	}
}

func TestAComponentThatEndsBeforeItIsHealthyIsStartedAgain(t *testing.T) {
	for sentence, tc := range map[string]struct {
		retries, ends int
		want          bool
	}{
		"it ends once, and may be started again":      {retries: 1, ends: 1, want: true},
		"it ends as often as it may be started again": {retries: 2, ends: 2, want: true},
		"it ends once more":                           {retries: 1, ends: 2},
		"it may not be started again":                 {ends: 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			starts := filepath.Join(dir, "starts")
			count := func() int {
				text, _ := os.ReadFile(starts)
				return strings.Count(string(text), "\n")
			}
			health := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if count() <= tc.ends {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			t.Cleanup(health.Close)
			s := testSupervisor(t, dir)
			exe, args := shell(t,
				fmt.Sprintf("echo start >>%s; [ $(wc -l <%s) -gt %d ] || exit 1; while :; do sleep 1; done", starts, starts, tc.ends))
			err := s.ensure(t.Context(), component{name: kwokName, exe: exe, args: args, health: probe{url: health.URL}, retries: tc.retries})
			t.Cleanup(func() {
				if err := s.stop(kwokName); err != nil {
					t.Error(err)
				}
			})
			if got := err == nil; got != tc.want {
				t.Errorf("comes to be healthy: got %t (%v), want %t", got, err, tc.want)
			}
			if got, want := count(), min(tc.retries, tc.ends)+1; got != want {
				t.Errorf("starts: got %d, want %d", got, want)
			}
		})
	}
}

func TestStatusNamesTheDead(t *testing.T) {
	s := testSupervisor(t, t.TempDir())
	p := startScript(t, "echo out of luck")
	if !p.gone(10 * time.Second) {
		t.Fatal("a script that only prints is still running after 10s")
	}
	if err := s.state.setProcess(etcdName, p); err != nil {
		t.Fatal(err)
	}
	row, err := s.statusOf(t.Context(), component{name: etcdName, health: unreachable()})
	if row.state != "dead" || err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("status of a dead component: got %+v and error %v, want state dead and its log", row, err)
	}
}

func TestStopLeavesARecycledPidAlone(t *testing.T) {
	p := startScript(t, "exec sleep 600")
	for name, recycled := range map[string]process{
		"another start time": {PID: p.PID, StartTicks: p.StartTicks + 1, Exe: p.Exe},
		"another program":    {PID: p.PID, StartTicks: p.StartTicks, Exe: "/nowhere/etcd"},
	} {
		if recycled.alive() {
			t.Errorf("%s: got alive, want the recorded process to count as gone", name)
		}
		if err := recycled.stop(time.Second); err != nil {
			t.Errorf("%s: stopping: got %v, want no error", name, err)
		}
	}
	if stat, err := readStat(p.PID); err != nil || stat.state == 'Z' {
		t.Errorf("the pid's new owner: got state %q (%v), want it running", stat.state, err)
	}
}

func TestStopEndsAProcessThatIgnoresTermination(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	exe, args := shell(t, "trap '' TERM; echo armed; while :; do sleep 1; done")
	p, err := startProcess(component{exe: exe, args: args}, log)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the trap to be set", func() bool { return strings.Contains(logTail(log), "armed") })
	if err := p.stop(100 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if p.alive() {
		t.Errorf("pid %d: got alive, want gone", p.PID)
	}
}

func TestFailedCommandStopsWhatItStarted(t *testing.T) {
	s := testSupervisor(t, t.TempDir())
	exe, args := shell(t, "sleep 600")
	if err := s.restart(component{name: etcdName, exe: exe, args: args}); err != nil {
		t.Fatal(err)
	}
	p := s.state.Processes[etcdName]
	cause := errors.New("interrupted")
	if err := s.abandon(cause); !errors.Is(err, cause) {
		t.Errorf("abandoning: got error %v, want %v", err, cause)
	}
	if p.alive() || len(s.state.Processes) != 0 {
		t.Errorf("after abandoning: got alive %v and %d recorded, want neither", p.alive(), len(s.state.Processes))
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !done() {
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			t.Fatalf("waiting for %s: %v", what, err)
		}
	}
}
