//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"statefulset.dev/test/bench/measure"
)

// requesters is how many users ask for sets at the same time.
const requesters = 16

func setsCase(name, title string, n, replicas int) benchCase {
	return benchCase{
		name: name, title: title, sides: controllers(),
		results: withHostWrites(1,
			measure.Result{Measure: "members ready", Unit: "per second", Better: measure.More,
				Goals: []measure.Goal{against(builtIn(), 2), beside(builtInDefault())}},
			measure.Result{Measure: "first pod, 99th percentile", Unit: "ms", Better: measure.Less,
				Goals: []measure.Goal{beside(builtIn()), beside(builtInDefault())}}),
		take: func(t *turn) samples { return t.createSets(t.size(n), replicas) },
	}
}

// createSets measures from the first request until the last pod is Ready, and for each set
// from the request for it until its first pod is there.
func (t *turn) createSets(n, replicas int) samples {
	begun := time.Now()
	asked := t.createAll("db", n, replicas)
	took := t.await(&t.pods.ready, n*replicas).Sub(begun)
	var waited []time.Duration
	for i, at := range asked {
		waited = append(waited, t.pods.seenAt(fmt.Sprintf("db%d-0", i)).Sub(at))
	}
	slices.Sort(waited)
	return t.addWrites(samples{
		"members ready":              float64(n*replicas) / took.Seconds(),
		"first pod, 99th percentile": milliseconds(waited[len(waited)*99/100]),
	}, n*replicas)
}

// createAll creates n sets, and returns when each was asked for.
func (t *turn) createAll(name string, n, replicas int) []time.Time {
	t.Helper()
	asked := make([]time.Time, n)
	err := eachOf(t.Context(), n, func(i int) error {
		asked[i] = time.Now()
		return t.post(t.ns, set(fmt.Sprintf("%s%d", name, i), replicas))
	})
	if err != nil {
		t.Fatalf("creating sets: %v", err)
	}
	return asked
}

// eachOf does something for each number below n, some at a time.
func eachOf(ctx context.Context, n int, do func(i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(requesters)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return do(i)
		})
	}
	return group.Wait()
}

// tries is how many small sets are created while the large one grows.
const tries = 10

func besideCase() benchCase {
	return benchCase{
		name: "beside", title: "sets of one member are created while a Parallel set of 5,000 members grows",
		sides: []side{ours(), builtIn()},
		results: []measure.Result{{Measure: "slowest first pod", Unit: "ms", Better: measure.Less,
			Goals: []measure.Goal{atMost(1000), beside(builtIn())}}},
		take: func(t *turn) samples { return t.createBeside(t.size(5000)) },
	}
}

// createBeside measures from the request for a small set until its pod is there. The set
// of many has to be still on its way when the last of the small ones has its pod.
func (t *turn) createBeside(many int) samples {
	other := t.namespace()
	pods := watchMembers(t.T, t.host, other)
	t.create(set("db", many, parallel))
	t.await(&t.pods.created, max(1, many/50))
	slowest := time.Duration(0)
	for i := range tries {
		begun := time.Now()
		if err := t.post(other, set(fmt.Sprintf("small%d", i), 1)); err != nil {
			t.Fatalf("creating a small set: %v", err)
		}
		at, err := pods.await(t.Context(), &pods.created, i+1)
		if err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, at.Sub(begun))
	}
	if got := t.pods.count(&t.pods.created); got >= many {
		t.Logf("all %d pods were there before the last small set had its own: the load was lighter than meant", got)
	}
	t.removeSets(other)
	t.removeSets(t.ns)
	t.sweep(t.T, t.ns, other)
	return samples{"slowest first pod": milliseconds(slowest)}
}
