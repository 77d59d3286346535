//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/faults/store/history"
	"statefulset.dev/test/faults/store/load"
	"statefulset.dev/test/faults/store/watches"
)

const (
	sets = 48
	// Writers, and how many of them go through the aggregator. Readers, listers and
	// watchers are of both sorts, too.
	writers, aggregated = 24, 8
	// leastWrites is how many writes must be acknowledged between two kills, whatever time that
	// takes. A kill after fewer proves nothing.
	leastWrites = 100
	// readPause is how long a reader waits between two reads, which take the machine's
	// time from the writers.
	readPause = 40 * time.Millisecond
	// Between two kills the storage is left in peace for a time between these.
	shortestPeace, longestPeace = 200 * time.Millisecond, 2 * time.Second
	// perObject bounds the search for an order of the requests for one object.
	perObject = 20 * time.Second
	shown     = 20
)

// play runs the clients, kills the victim at random moments, and judges.
func (r *run) play(victim victim) {
	log := load.NewLog()
	stop := r.startClients(log)
	outages, rate := r.killAgainAndAgain(log, victim)
	stop()
	if err := r.server.AwaitReady(r.t.Context()); err != nil {
		r.t.Fatalf("the server after the last kill: %v", err)
	}
	r.judge(log, outages, rate)
}

// startClients starts writers, readers, listers and watchers, and returns what ends
// them all.
func (r *run) startClients(log *load.Log) (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	watching, cancelWatches := context.WithCancel(r.t.Context())
	keys := load.Keys(sets)
	var running, watchers sync.WaitGroup
	number := 0
	next := func(direct bool) (*load.Client, *rand.Rand) {
		number++
		return r.client(log, number, direct), rand.New(rand.NewPCG(r.random.Uint64(), 0))
	}
	for i := range writers {
		client, random := next(i >= aggregated)
		running.Go(func() { client.Write(ctx, random, keys) })
	}
	for _, direct := range []bool{true, false} {
		reader, random := next(direct)
		running.Go(func() { reader.ReadAll(ctx, random, keys, readPause) })
		lister, _ := next(direct)
		running.Go(func() { lister.ListAll(ctx, keys) })
		for _, filter := range []watches.Filter{{}, {Color: "red"}, {Key: keys[0]}} {
			watcher, random := next(direct)
			name := fmt.Sprintf("of %+v, direct %v", filter, direct)
			watchers.Go(func() { watcher.Watch(watching, random, name, filter) })
		}
	}
	return func() {
		cancel()
		running.Wait()
		cancelWatches()
		watchers.Wait()
	}
}

// killAgainAndAgain returns how long each time no write was acknowledged, and how
// many were in each second of the times between.
func (r *run) killAgainAndAgain(log *load.Log, victim victim) (outages []time.Duration, rate float64) {
	r.awaitWrite(log, 0)
	var peace time.Duration
	var writes int
	for r.goesOn(log.Now(), len(outages)) || victim.awaitsKill() {
		before, _ := log.Acknowledged()
		peaceful := log.Now()
		time.Sleep(shortestPeace + time.Duration(r.random.Int64N(int64(longestPeace-shortestPeace))))
		after := r.awaitWrites(log, before+leastWrites)
		began := log.Now()
		peace, writes = peace+began-peaceful, writes+after-before
		rate = float64(writes) / peace.Seconds()
		restart := victim.kill(r.random)
		killed := log.Now()
		if victim.leavesMajority() {
			// The others must go on without it.
			r.awaitWrite(log, killed)
			outages = append(outages, log.Now()-began)
			restart()
			r.awaitMembers()
			continue
		}
		restart()
		r.awaitWrite(log, killed)
		outages = append(outages, log.Now()-began)
		r.awaitMembers()
	}
	return outages, rate
}

// awaitsKill is what most victims say.
func (r *run) awaitsKill() bool { return false }

// goesOn reports whether there is another kill to come.
func (r *run) goesOn(now time.Duration, kills int) bool {
	if r.kills > 0 {
		return kills < r.kills
	}
	return now < r.budget
}

func (r *run) awaitMembers() {
	for _, process := range r.processes {
		if err := process.AwaitReady(r.t.Context()); err != nil {
			r.t.Fatalf("etcd after it was killed: %v", err)
		}
	}
}

// awaitWrite waits until a write is acknowledged that was asked for after a moment.
func (r *run) awaitWrite(log *load.Log, after time.Duration) {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, last := log.Acknowledged(); last > after {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("no write was acknowledged within %s; errors: %v", patience, log.Errors())
		}
	}
}

// awaitWrites waits until as many writes have been acknowledged, and returns how many have.
func (r *run) awaitWrites(log *load.Log, wanted int) int {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		writes, _ := log.Acknowledged()
		if writes >= wanted {
			return writes
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d writes were acknowledged within %s, want %d; errors: %v", writes, patience, wanted, log.Errors())
		}
	}
}

func (r *run) judge(log *load.Log, outages []time.Duration, rate float64) {
	operations, truth := log.Operations(), r.truth()
	writes, _ := log.Acknowledged()
	slices.Sort(outages)
	seen := 0
	for _, stream := range log.Streams() {
		for _, request := range stream.Requests {
			seen += len(request.Events)
		}
	}
	r.t.Logf("%d kills; without service for %s at most, %s in the middle; %d writes acknowledged, %.0f a second between kills; %d requests, %d lists, %d watch streams with %d events; errors %v",
		len(outages), outages[len(outages)-1].Round(time.Millisecond), outages[len(outages)/2].Round(time.Millisecond),
		writes, rate, len(operations), len(log.Snapshots()), len(log.Streams()), seen, log.Errors())
	if all := int(truth.Changes[len(truth.Changes)-1].Revision - truth.Changes[0].Revision); seen < all {
		r.t.Errorf("the run is void: all watches saw %d events, want at least the %d of the storage", seen, all)
	}

	violations := verdict(r.t, "writes lost or invented", history.Lost(operations, truth)) +
		verdict(r.t, "answers without an order", history.NotLinearizable(operations, truth, perObject)) +
		verdict(r.t, "lists that show no moment", history.Inconsistent(log.Snapshots(), truth))
	for _, stream := range log.Streams() {
		violations += verdict(r.t, "events of a watch", watches.Check(stream, truth))
	}
	row.Report(r.t, row.Row{
		Fault: r.fault, Side: "ours", Where: "real", Runs: len(outages), Violations: violations,
		Detail: fmt.Sprintf("%d acknowledged writes, %.0f a second between kills, %d requests in order; out for %.1f s at most", writes, rate,
			len(operations), outages[len(outages)-1].Seconds()),
	})
}

// verdict fails the test with the first of the sentences, and counts them.
func verdict(t *testing.T, what string, found []string) int {
	for i, sentence := range found {
		if i == shown {
			t.Errorf("%s: %d more", what, len(found)-shown)
			break
		}
		t.Errorf("%s: %s", what, sentence)
	}
	return len(found)
}
