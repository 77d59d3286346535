//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"bytes"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/bench/measure"
	"statefulset.dev/test/harness/lab"
)

func listCase() benchCase {
	serving := oursServing(measure.Ours, "off") // trials of 10,000 creates would take longer than what is measured
	return benchCase{
		name: "list", title: "10,000 sets are listed, while no controller runs",
		sides: []side{serving, builtInKind(), customKind(), emptyHandler()},
		results: []measure.Result{
			{Measure: "JSON", Unit: "ms, median", Better: measure.Less, Goals: []measure.Goal{
				{Against: builtInKind().name, Ratio: 0.85, Or: &measure.Goal{Against: emptyHandler().name, Ratio: 1 / 1.15}},
				against(customKind(), 1),
			}},
			{Measure: "protobuf", Unit: "ms, median", Better: measure.Less, Goals: []measure.Goal{against(builtInKind(), 0.85)}},
			{Measure: "watch-list, JSON", Unit: "ms, median", Better: measure.Less,
				Goals: []measure.Goal{beside(builtInKind()), against(customKind(), 1)}},
			{Measure: "memory for ten at a time", Unit: "MB more in the server", Better: measure.Less,
				Goals: []measure.Goal{atMost(64), beside(builtInKind()), beside(customKind())}},
			{Measure: "host's memory for ten at a time", Unit: "MB more in kube-apiserver", Better: measure.Less,
				Goals: []measure.Goal{beside(builtInKind())}},
		},
		take: func(t *turn) samples { return t.list(t.size(10_000)) },
	}
}

const (
	// lists is how often the sets are listed, one after the other.
	lists       = 9
	listsAtOnce = 10
)

func (t *turn) list(n int) samples {
	t.createAll("db", n, 0)
	got := samples{"JSON": t.listAs("application/json")}
	if t.side.name == measure.Ours || t.side.name == builtInKind().name {
		got["protobuf"] = t.listAs("application/vnd.kubernetes.protobuf")
	}
	if t.side.name == emptyHandler().name {
		return got // it does not watch, and keeps nothing
	}
	got["watch-list, JSON"] = median(func() { t.watchList() })
	t.memoryForLists(got)
	return got
}

// memoryForLists asks for ten lists at a time, and tells how much more memory that takes at
// its peak, in the process that serves them and in the host. For a kind of the host, these
// are one.
func (t *turn) memoryForLists(got samples) {
	t.Helper()
	host := t.PID(lab.HostAPI)
	server := host
	if t.process != nil {
		server = t.process.PID()
	}
	before := map[int]float64{}
	for _, pid := range []int{server, host} {
		resident, err := measure.ResetPeak(pid)
		if err != nil {
			t.Fatal(err)
		}
		before[pid] = resident
	}
	asking, ctx := errgroup.WithContext(t.Context())
	for range listsAtOnce {
		asking.Go(func() error {
			_, err := t.http.send(ctx, http.MethodGet, t.path("")+"?resourceVersion=0", "", "application/json", nil)
			return err
		})
	}
	if err := asking.Wait(); err != nil {
		t.Fatal(err)
	}
	for what, pid := range map[string]int{"memory for ten at a time": server, "host's memory for ten at a time": host} {
		peak, err := measure.Peak(pid)
		if err != nil {
			t.Fatal(err)
		}
		got[what] = max(0, peak-before[pid]) / 1e6
	}
}

// watchList has all sets sent as the first events of a watch, as informers do.
func (t *turn) watchList() {
	t.Helper()
	stream, err := t.http.open(t.Context(),
		t.path("")+"?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=0")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, longestSet)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(metav1.InitialEventsAnnotationKey)) {
			return
		}
	}
	t.Fatalf("a watch that begins with all sets: it has ended before it said that it has sent them: %v", lines.Err())
}

// listAs returns the median time of a list, in milliseconds.
func (t *turn) listAs(accept string) float64 {
	t.Helper()
	return median(func() {
		// The version 0 asks for what is in memory, as informers do.
		if _, err := t.http.send(t.Context(), http.MethodGet, t.path("")+"?resourceVersion=0", "", accept, nil); err != nil {
			t.Fatal(err)
		}
	})
}

// median is how many milliseconds something takes that is done several times.
func median(do func()) float64 {
	var took []time.Duration
	for range lists {
		begun := time.Now()
		do()
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return milliseconds(took[len(took)/2])
}
