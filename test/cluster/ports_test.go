// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"testing"
)

func TestChoosePort(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port

	if got, err := choosePort(t.Context(), taken, nil); err != nil || got == taken || !portFree(t.Context(), got) {
		t.Errorf("choosing a port when %d is taken: got %d (%v), want another, free one", taken, got, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := choosePort(t.Context(), taken, nil); err != nil || got != taken {
		t.Errorf("choosing a port when %d is free: got %d (%v), want it", taken, got, err)
	}
	if got, err := choosePort(t.Context(), taken, map[string]int{"other": taken}); err != nil || got == taken {
		t.Errorf("choosing a port when %d is promised to another listener: got %d (%v), want another", taken, got, err)
	}
}

func TestRememberedPortSurvivesReload(t *testing.T) {
	dir := t.TempDir()
	s := testSupervisor(t, dir)
	s.ports[kwokName] = 19001
	if err := s.assignPort(t.Context(), kwokName); err != nil {
		t.Fatal(err)
	}
	again := testSupervisor(t, dir)
	if got, want := again.ports[kwokName], s.ports[kwokName]; got != want {
		t.Errorf("port after reading the state again: got %d, want %d", got, want)
	}
}

func TestMovedPorts(t *testing.T) {
	dir := t.TempDir()
	s := testSupervisor(t, dir)
	if err := s.movePorts(2000); err != nil {
		t.Fatal(err)
	}
	if err := s.assignPort(t.Context(), kwokName); err != nil {
		t.Fatal(err)
	}
	if got, want := s.ports[kwokName], usualPorts()[kwokName]+2000; got < want {
		t.Errorf("port of a cluster that was moved by 2000: got %d, want at least %d", got, want)
	}
	again := testSupervisor(t, dir)
	if err := again.movePorts(0); err != nil {
		t.Fatal(err)
	}
	if err := again.assignPort(t.Context(), aggregatedName); err != nil {
		t.Fatal(err)
	}
	if got, want := again.ports[aggregatedName], usualPorts()[aggregatedName]+2000; got < want {
		t.Errorf("port that the same cluster takes later: got %d, want at least %d", got, want)
	}
	for _, bad := range []int{-1, maxPortOffset + 1} {
		if err := s.movePorts(bad); err == nil {
			t.Errorf("--port-offset %d: got no error, want one", bad)
		}
	}
}
