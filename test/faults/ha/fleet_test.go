//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/harness/lab"
)

const (
	patience = 90 * time.Second
	poll     = 20 * time.Millisecond
	// grace is how long a replica may take to end.
	grace = 30 * time.Second
)

// fleet is some replicas of the server on one etcd of three members.
type fleet struct {
	t        *testing.T
	lab      *lab.Lab
	etcd     []string
	balancer *balancer
	program  lab.Program
	replicas []*replica
}

// replica is one server. It is killed by the names that its process has.
type replica struct {
	name    string
	program lab.Program
	process *lab.Process
	address string
	sets    versioned.Interface
	http    *http.Client
}

// newFleet has no replicas yet.
func newFleet(t *testing.T) *fleet {
	f := &fleet{t: t, lab: lab.Open(t)}
	f.program = f.lab.TakeOver(t, lab.Server)
	f.startEtcd()
	var err error
	if f.balancer, err = newBalancer(t.Context(), f.lab.Address(lab.Server)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.balancer.close() })
	return f
}

func (f *fleet) startEtcd() {
	var running []*lab.Process
	for _, member := range f.lab.EtcdMembers(f.t, 3) {
		running = append(running, f.lab.Launch(f.t, member.Program))
		f.etcd = append(f.etcd, member.URL)
	}
	for _, process := range running {
		if err := process.AwaitReady(f.t.Context()); err != nil {
			f.t.Fatalf("starting etcd: %v", err)
		}
	}
}

// add starts one more replica. It runs under a name of its own, by which the host's
// audit log tells it from the others.
func (f *fleet) add() {
	name := fmt.Sprintf("replica-%d", len(f.replicas))
	program := f.lab.WithPort(f.t, f.program, name)
	program.Exe = filepath.Join(f.t.TempDir(), name)
	if err := os.Symlink(f.program.Exe, program.Exe); err != nil {
		f.t.Fatalf("naming a replica: %v", err)
	}
	program.Args = program.Args.Without("data-dir").With("etcd-servers", strings.Join(f.etcd, ","))
	for flag, value := range shutdownFlags(f.t, f.lab) {
		program.Args = program.Args.With(flag, value)
	}
	config := f.lab.Direct("https://127.0.0.1:" + program.Port())
	sets, err := versioned.NewForConfig(config)
	if err != nil {
		f.t.Fatalf("creating a client of %s: %v", name, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		f.t.Fatalf("creating a client of %s: %v", name, err)
	}
	client.Timeout = time.Second
	r := &replica{name: name, program: program, address: "127.0.0.1:" + program.Port(), sets: sets, http: client}
	f.replicas = append(f.replicas, r)
	f.start(r)
}

// start starts a replica, and leads new connections to it when it is ready.
func (f *fleet) start(r *replica) {
	r.process = f.lab.Start(f.t, r.program)
	f.balancer.add(r.address)
}

// leads asks a replica whether it controls. One that does not answer does not.
func (r *replica) leads(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.address+"/debug/controller/state", nil)
	if err != nil {
		return false
	}
	response, err := r.http.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	var state struct{ Leading bool }
	return err == nil && json.Unmarshal(raw, &state) == nil && state.Leading
}

// leader waits until one replica controls, and returns it and the others.
func (f *fleet) leader() (leader *replica, others []*replica) {
	f.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(poll) {
		leader, others = nil, nil
		for _, r := range f.replicas {
			if leader == nil && r.leads(f.t.Context()) {
				leader = r
				continue
			}
			others = append(others, r)
		}
		if leader != nil {
			return leader, others
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("none of %d replicas controls after %s", len(f.replicas), patience)
		}
	}
}
