// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The components of a cluster, as its state names them.
const (
	Server            = "statefulset-apiserver"
	HostAPI           = "kube-apiserver"
	HostEtcd          = "etcd"
	ControllerManager = "kube-controller-manager"
)

// patience bounds every wait for a process. It is never the reason for a verdict.
const patience = time.Minute

// Lab is a local cluster.
type Lab struct {
	// Dir is the cluster's directory.
	Dir string
	// Config leads to the host's kube-apiserver, as administrator, without a rate
	// limit.
	Config *rest.Config

	components map[string]component
	ports      map[string]int
}

// component is a process as the cluster's state records it.
type component struct {
	PID        int      `json:"pid"`
	StartTicks uint64   `json:"startTicks"`
	Exe        string   `json:"exe"`
	Args       []string `json:"args"`
}

// Open opens the cluster that STATEFULSET_CLUSTER_DIR names.
func Open(t testing.TB) *Lab {
	t.Helper()
	dir := os.Getenv("STATEFULSET_CLUSTER_DIR")
	if dir == "" {
		t.Fatal("STATEFULSET_CLUSTER_DIR is not set: name the directory of a cluster that bin/cluster up and bin/cluster register have started")
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatalf("reading the cluster's kubeconfig: %v", err)
	}
	config.QPS = -1
	raw, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		t.Fatalf("reading the cluster's state: %v", err)
	}
	var state struct {
		Ports     map[string]int       `json:"ports"`
		Processes map[string]component `json:"processes"`
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		t.Fatalf("decoding the cluster's state: %v", err)
	}
	return &Lab{Dir: dir, Config: config, components: state.Processes, ports: state.Ports}
}

// Program is how a component of the cluster was started.
func (l *Lab) Program(t testing.TB, name string) Program {
	t.Helper()
	c, ok := l.components[name]
	if !ok {
		t.Fatalf("the cluster in %s has no %s", l.Dir, name)
	}
	return Program{Name: name, Exe: c.Exe, Args: c.Args, Ready: l.readiness(name, l.ports[name])}
}

// TakeOver ends a component of the cluster and returns how it was started. One that
// has been taken over before has ended already.
func (l *Lab) TakeOver(t testing.TB, name string) Program {
	t.Helper()
	program := l.Program(t, name)
	c := l.components[name]
	if !c.runs() {
		return program
	}
	if err := syscall.Kill(c.PID, syscall.SIGTERM); err != nil {
		t.Fatalf("stopping %s, pid %d: %v", name, c.PID, err)
	}
	for deadline := time.Now().Add(patience / 2); c.runs(); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("%s, pid %d, still runs %s after it was told to end", name, c.PID, patience/2)
		}
	}
	return program
}

// Port is where a component of the cluster listens.
func (l *Lab) Port(name string) int { return l.ports[name] }

// URL is where a component of the cluster listens.
func (l *Lab) URL(name string) string { return "https://" + l.Address(name) }

// Address is where a component of the cluster listens.
func (l *Lab) Address(name string) string { return "127.0.0.1:" + strconv.Itoa(l.ports[name]) }

// Path is a path below the cluster's directory.
func (l *Lab) Path(elem ...string) string {
	return filepath.Join(append([]string{l.Dir}, elem...)...)
}
