//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"statefulset.dev/test/bench/measure"
)

const (
	// watchers is how many watch at the same time, and changes how often they see something.
	watchers = 1000
	changes  = 50
	// longestSet bounds an event: it is one line.
	longestSet = 1 << 20
)

func watchCase() benchCase {
	return benchCase{
		name: "watch", title: "1,000 watchers are told of 50 changes, one after the other, while no controller runs",
		sides: []side{oursServing(measure.Ours, "enforce"), builtInKind(), customKind()},
		results: []measure.Result{{Measure: "from the request to the watcher, 99th percentile", Unit: "ms", Better: measure.Less,
			Goals: []measure.Goal{beside(builtInKind()), against(customKind(), 1)}}},
		take: func(t *turn) samples { return t.watch(t.size(watchers)) },
	}
}

// watch measures from before each change is asked for until each watcher has read it. The
// next change waits for the last of them.
func (t *turn) watch(n int) samples {
	t.create(set("db", 0, withClaim))
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan time.Time, n)
	var streams sync.WaitGroup
	defer streams.Wait()
	defer cancel()
	opening, openCtx := errgroup.WithContext(ctx)
	opening.SetLimit(requesters)
	for range n {
		opening.Go(func() error {
			stream, err := t.http.open(ctx, t.path("")+"?watch=true")
			if err != nil || openCtx.Err() != nil {
				return err
			}
			streams.Go(func() { relay(stream, seen) })
			return nil
		})
	}
	if err := opening.Wait(); err != nil {
		t.Fatalf("watching: %v", err)
	}
	// The set that is there is the first that each is told of.
	t.collect(seen, n)
	var took []time.Duration
	for i := range changes {
		asked := time.Now()
		t.change("db", fmt.Sprintf(`{"metadata":{"annotations":{"change":"%d"}}}`, i))
		for _, at := range t.collect(seen, n) {
			took = append(took, at.Sub(asked))
		}
	}
	slices.Sort(took)
	return samples{"from the request to the watcher, 99th percentile": milliseconds(took[len(took)*99/100])}
}

// relay tells when each line of a stream has come.
func relay(stream io.ReadCloser, seen chan<- time.Time) {
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, longestSet)
	for lines.Scan() {
		seen <- time.Now()
	}
}

func (t *turn) collect(seen <-chan time.Time, n int) []time.Time {
	t.Helper()
	timeout := time.After(time.Minute)
	times := make([]time.Time, 0, n)
	for range n {
		select {
		case at := <-seen:
			times = append(times, at)
		case <-timeout:
			t.Fatalf("a minute after a change %d of %d watchers have seen it", len(times), n)
		}
	}
	return times
}

// open returns the body of a successful answer while it is still coming.
func (a *api) open(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.host+path, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", path, err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, refusal{response.StatusCode, fmt.Sprintf("GET %s: got %s", path, response.Status)}
	}
	return response.Body, nil
}
