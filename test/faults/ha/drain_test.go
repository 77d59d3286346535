//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/faults/store/history"
	"statefulset.dev/test/faults/store/load"
	"statefulset.dev/test/faults/store/watches"
	"statefulset.dev/test/harness"
)

const (
	writers, readers = 8, 2
	sets             = 32
	// retries is how often client-go repeats a request that the server wants to have
	// repeated, unless it is told otherwise.
	retries = 10
	// propagation is how long it takes until no new connection is led to a pod that
	// was told to end: the cluster has to write its endpoint and kube-proxy to read it.
	propagation = time.Second
	perObject   = 20 * time.Second
)

// TestDrain replaces one replica after the other, as a rolling update does, while
// clients go through the aggregator. DRAINS sets how many, 4 by default.
func TestDrain(t *testing.T) {
	drains := harness.Number(t, "DRAINS", 4)
	f := newFleet(t)
	if err := load.Idle(t.Context(), f.lab.Host); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f.add()
	}
	f.underLoad("replica drained", drains, func() (took time.Duration) {
		for range drains {
			took = max(took, f.drain(f.busiest()))
		}
		return took
	})
}

// underLoad drains replicas while clients write, read, list and watch, and judges what these were
// told. Nobody may control meanwhile; the lease is given back at the end. change returns how long a
// replica took to end at most.
func (f *fleet) underLoad(fault string, drains int, change func() (took time.Duration)) {
	f.t.Helper()
	namespace, err := load.NewNamespace(f.t.Context(), f.lab.Host)
	if err != nil {
		f.t.Fatal(err)
	}
	log := load.NewLog()
	stop := f.startClients(log, namespace)
	took := change()
	stop()
	f.judge(fault, log, namespace, drains, took)
	if err := load.Resume(f.t.Context(), f.lab.Host); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) startClients(log *load.Log, namespace string) (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	var running sync.WaitGroup
	keys := load.Keys(sets)
	number := 0
	next := func() (*load.Client, *rand.Rand) {
		number++
		client, err := load.NewClient(log, f.lab.Config, namespace, number, retries)
		if err != nil {
			f.t.Fatal(err)
		}
		return client, rand.New(rand.NewPCG(uint64(number), 0))
	}
	for range writers {
		client, random := next()
		running.Go(func() { client.Write(ctx, random, keys) })
	}
	for range readers {
		client, random := next()
		running.Go(func() { client.ReadAll(ctx, random, keys, 2*time.Millisecond) })
	}
	lister, _ := next()
	running.Go(func() { lister.ListAll(ctx, keys) })
	for _, filter := range []watches.Filter{{}, {Color: "red"}, {Key: keys[0]}} {
		client, random := next()
		running.Go(func() { client.Watch(ctx, random, fmt.Sprintf("of %+v", filter), filter) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// busiest is the replica that most connections lead to.
func (f *fleet) busiest() *replica {
	return slices.MaxFunc(f.replicas, func(a, b *replica) int {
		return f.balancer.connections(a.address) - f.balancer.connections(b.address)
	})
}

// drain tells a replica to end, has the service learn of it a little later, waits
// until the replica has ended by itself, and starts it again. It returns how long
// the replica took to end.
func (f *fleet) drain(r *replica) time.Duration {
	f.t.Helper()
	f.t.Logf("draining %s with %d connections", r.name, f.balancer.connections(r.address))
	began := time.Now()
	terminate(f.t)(r)
	removal := time.AfterFunc(propagation, func() { f.balancer.remove(r.address) })
	defer removal.Stop()
	select {
	case <-r.process.Exited():
	case <-time.After(patience):
		f.t.Fatalf("%s has not ended %s after it was told to", r.name, patience)
	}
	took := time.Since(began)
	f.start(r)
	return took
}

func (f *fleet) judge(fault string, log *load.Log, namespace string, drains int, took time.Duration) {
	f.t.Helper()
	failed := 0
	for _, kind := range slices.Sorted(maps.Keys(log.Errors())) {
		failed += log.Errors()[kind]
		f.t.Errorf("requests that failed with %q, retries included: got %d, want 0", kind, log.Errors()[kind])
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	etcd, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: f.etcd})
	if err != nil {
		f.t.Fatalf("connecting to etcd: %v", err)
	}
	defer etcd.Close()
	truth, err := history.ReadTruth(ctx, etcd, "/registry/statefulset.dev/", namespace)
	if err != nil {
		f.t.Fatal(err)
	}
	operations := log.Operations()
	wrong := slices.Concat(history.Lost(operations, truth), history.NotLinearizable(operations, truth, perObject),
		history.Inconsistent(log.Snapshots(), truth))
	for _, stream := range log.Streams() {
		wrong = append(wrong, watches.Check(stream, truth)...)
	}
	for _, sentence := range wrong {
		f.t.Error(sentence)
	}
	acknowledged, _ := log.Acknowledged()
	f.t.Logf("%d requests, %d acknowledged writes (%.0f a second), %d lists, %d watch streams; a replica took %s to end",
		len(operations), acknowledged, float64(acknowledged)/log.Now().Seconds(), len(log.Snapshots()), len(log.Streams()), took)
	row.Report(f.t, row.Row{
		Fault: fault, Side: "ours", Where: "real", Runs: drains, Violations: failed + len(wrong),
		Detail: fmt.Sprintf("%d requests through the aggregator, none failed that a client does not repeat by itself", len(operations)),
	})
}
