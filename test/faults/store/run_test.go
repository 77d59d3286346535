//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/faults/store/history"
	"statefulset.dev/test/faults/store/load"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

const (
	// etcdPrefix is where the server keeps what it stores.
	etcdPrefix = "/registry/statefulset.dev/"
	// patience bounds every wait. It is never the reason for a verdict.
	patience = 90 * time.Second
)

// run is one storage that is killed.
type run struct {
	t         *testing.T
	lab       *lab.Lab
	fault     string
	budget    time.Duration
	kills     int // 0 stands for as many as the budget allows
	random    *rand.Rand
	namespace string

	program   lab.Program
	server    *lab.Process
	processes []*lab.Process // of an external etcd
	endpoints []string       // of etcd; empty for the embedded one
	// truthFrom, if it is set, is where the history is read from when all is over.
	truthFrom func() []string
}

func newRun(t *testing.T, fault string, budget time.Duration) *run {
	seed := uint64(harness.Number(t, "SEED", int(time.Now().UnixNano())))
	t.Logf("SEED=%d", seed)
	r := &run{t: t, lab: lab.Open(t), fault: fault, budget: budget, kills: harness.Number(t, "KILLS", 0),
		random: rand.New(rand.NewPCG(seed, 0))}
	r.program = r.lab.TakeOver(t, lab.Server)
	r.program.Args = r.program.Args.
		// A dry run on the host for each write would leave little load for the storage.
		With("preflight", "off").
		// The history is read from its begin when all is over.
		With("etcd-compaction-interval", "0")
	var err error
	if err = load.Idle(t.Context(), r.lab.Host); err != nil {
		t.Fatalf("keeping the controllers away: %v", err)
	}
	if r.namespace, err = load.NewNamespace(t.Context(), r.lab.Host); err != nil {
		t.Fatal(err)
	}
	return r
}

// serve starts the server on an external etcd.
func (r *run) serve(etcd []lab.Etcd) {
	for _, member := range etcd {
		r.processes = append(r.processes, r.lab.Launch(r.t, member.Program))
		r.endpoints = append(r.endpoints, member.URL)
	}
	for _, process := range r.processes {
		if err := process.AwaitReady(r.t.Context()); err != nil {
			r.t.Fatalf("starting etcd: %v", err)
		}
	}
	r.program.Args = r.program.Args.Without("data-dir").With("etcd-servers", strings.Join(r.endpoints, ","))
	r.server = r.lab.Start(r.t, r.program)
	r.awaitAggregator()
}

// serveEmbedded starts the server with an etcd of its own.
func (r *run) serveEmbedded() {
	// The server puts the socket of its etcd there. Its path must be short.
	sockets, err := os.MkdirTemp("", "faults-")
	if err != nil {
		r.t.Fatalf("creating a directory: %v", err)
	}
	r.t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	r.program.Args = r.program.Args.With("data-dir", filepath.Join(r.t.TempDir(), "data"))
	r.t.Setenv("TMPDIR", sockets)
	r.server = r.lab.Start(r.t, r.program)
	r.awaitAggregator()
}

// awaitAggregator waits until the host leads requests to the server.
func (r *run) awaitAggregator() {
	harness.Eventually(r.t, "the host serves our group", func(ctx context.Context) error {
		_, err := r.lab.Sets.AppsV1().StatefulSets(r.namespace).List(ctx, metav1.ListOptions{})
		return err
	})
}

// truth reads what the storage went through.
func (r *run) truth() *history.Truth {
	// A store that was filled a hundred times has gigabytes of history.
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*patience)
	defer cancel()
	endpoints := r.endpoints
	switch {
	case r.truthFrom != nil:
		endpoints = r.truthFrom()
	case len(endpoints) == 0:
		endpoints = []string{"unix://" + newestSocket(r.t, os.Getenv("TMPDIR"))}
	}
	etcd, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: endpoints})
	if err != nil {
		r.t.Fatalf("connecting to etcd: %v", err)
	}
	defer etcd.Close()
	truth, err := history.ReadTruth(ctx, etcd, etcdPrefix, r.namespace)
	if err != nil {
		r.t.Fatalf("reading the history of the storage: %v", err)
	}
	return truth
}

// newestSocket is that of the server that runs; killed ones have left theirs.
func newestSocket(t *testing.T, dir string) string {
	found, err := filepath.Glob(filepath.Join(dir, "statefulset-etcd-*", "etcd.sock"))
	if err != nil || len(found) == 0 {
		t.Fatalf("looking for the socket of etcd in %s: got %q, %v", dir, found, err)
	}
	newest, at := "", time.Time{}
	for _, socket := range found {
		if info, err := os.Stat(socket); err == nil && info.ModTime().After(at) {
			newest, at = socket, info.ModTime()
		}
	}
	return newest
}

// client makes a client of the run, which does not repeat requests by itself.
func (r *run) client(log *load.Log, number int, direct bool) *load.Client {
	config := r.lab.Config
	if direct {
		config = r.lab.Direct(r.lab.URL(lab.Server))
	}
	client, err := load.NewClient(log, config, r.namespace, number, 0)
	if err != nil {
		r.t.Fatalf("creating a client: %v", err)
	}
	return client
}
