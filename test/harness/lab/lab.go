// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"strconv"
	"syscall"
	"testing"
	"time"

	"statefulset.dev/test/harness"
)

// The components of a cluster, as its state names them.
const (
	Server            = "statefulset-apiserver"
	HostAPI           = "kube-apiserver"
	HostEtcd          = "etcd"
	ControllerManager = "kube-controller-manager"
)

// patience limits every wait for a process. It does not decide the result.
const patience = time.Minute

// Lab is a local cluster whose processes a suite may start and end.
type Lab struct {
	*harness.Cluster

	state harness.State
}

// Open opens the cluster that STATEFULSET_CLUSTER_DIR names.
func Open(t testing.TB) *Lab {
	t.Helper()
	cluster, err := harness.Open()
	if err != nil {
		t.Fatal(err)
	}
	return &Lab{Cluster: cluster, state: cluster.State(t)}
}

// Program returns how a component of the cluster was started.
func (l *Lab) Program(t testing.TB, name string) Program {
	t.Helper()
	c, ok := l.state.Processes[name]
	if !ok {
		t.Fatalf("the cluster in %s has no %s", l.Dir, name)
	}
	return Program{Name: name, Exe: c.Exe, Args: c.Args, Ready: l.readiness(name, l.state.Ports[name])}
}

// TakeOver ends a component of the cluster and returns how it was started. A component that was
// taken over before has ended already.
func (l *Lab) TakeOver(t testing.TB, name string) Program {
	t.Helper()
	program := l.Program(t, name)
	c := l.state.Processes[name]
	if !runs(c) {
		return program
	}
	if err := syscall.Kill(c.PID, syscall.SIGTERM); err != nil {
		t.Fatalf("stopping %s, pid %d: %v", name, c.PID, err)
	}
	for deadline := time.Now().Add(patience / 2); runs(c); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("%s, pid %d, is still running %s after SIGTERM", name, c.PID, patience/2)
		}
	}
	return program
}

// PID returns the PID of a component of the cluster that was not taken over.
func (l *Lab) PID(name string) int { return l.state.Processes[name].PID }

// Port returns the port of a component of the cluster.
func (l *Lab) Port(name string) int { return l.state.Ports[name] }

// URL returns the URL of a component of the cluster.
func (l *Lab) URL(name string) string { return "https://" + l.Address(name) }

// Address returns the address of a component of the cluster.
func (l *Lab) Address(name string) string { return "127.0.0.1:" + strconv.Itoa(l.state.Ports[name]) }
