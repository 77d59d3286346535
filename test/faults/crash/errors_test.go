//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// tooManyRetries is how many times the writes of a run without faults may be written
// when every fifth fails.
const tooManyRetries = 3

// failFor is how long the host fails requests. A controller that was failed again and again
// waits up to as long before it tries once more, so this bounds the runs.
const failFor = 90 * time.Second

// apiFaults are the ways in which the host fails a request.
func apiFaults() map[string]proxy.Fault {
	return map[string]proxy.Fault{
		"409":                       {Code: http.StatusConflict},
		"429 with Retry-After":      {Code: http.StatusTooManyRequests, RetryAfter: time.Second},
		"500":                       {Code: http.StatusInternalServerError},
		"503":                       {Code: http.StatusServiceUnavailable},
		"504":                       {Code: http.StatusGatewayTimeout},
		"504 that was committed":    {Code: http.StatusGatewayTimeout, Commit: true},
		"500 that was committed":    {Code: http.StatusInternalServerError, Commit: true},
		"429 without a Retry-After": {Code: http.StatusTooManyRequests},
	}
}

// The host fails a part of the controller's requests for objects of sets. Which, depends
// on the run and on how many it has made.
func TestAPIErrorsOurs(t *testing.T)    { apiErrors(t, ours) }
func TestAPIErrorsBuiltIn(t *testing.T) { apiErrors(t, builtIn) }

func apiErrors(t *testing.T, s side) {
	b := openBench(t)
	host := b.proxied(t, s, b.URL(lab.HostAPI))
	if s == builtIn {
		b.Start(t, b.server)
	}
	b.Start(t, b.controller(t, s, b.nameOf(s), host.URL, b.etcd.URL))
	b.warmUp(t)
	usual := &failing{}
	host.Fail(usual.fail)
	reference := b.reference(t, s)

	v := newVerdict("API errors", s)
	waves := [][]int{{1, 20}, {5, 50}}
	if s == builtIn { // it has fewer runs
		waves = [][]int{{1, 5, 20, 50}}
	}
	for _, percents := range waves {
		plan := &failing{faults: map[string]proxy.Fault{}, rates: map[string]float64{}}
		var runs []*run
		of := map[int][]string{}
		for _, percent := range percents {
			for _, r := range b.failedRuns(t, s, percent, plan) {
				of[percent] = append(of[percent], r.namespace)
				runs = append(runs, r)
			}
		}
		host.Fail(plan.fail)
		heal := time.AfterFunc(failFor, plan.heal)
		playAll(t, runs)
		heal.Stop()
		v.runs += len(runs)
		b.judgeAll(t, v, runs, reference)
		for _, percent := range percents {
			ratio := float64(plan.count(of[percent])) / float64(len(apiFaults())/2*usual.count(nil))
			v.note("%d %%: %.1f times the writes", percent, ratio)
			if percent == 20 && ratio > tooManyRetries {
				v.add("all runs",
					violation{bounded, fmt.Sprintf("got %.1f times the writes of runs without faults, want at most %d", ratio, tooManyRetries)})
			}
		}
	}
	v.report(t, b)
}

// failedRuns are runs with each fault at one rate. A fault has every other scenario, and at
// the next rate the others.
func (b *bench) failedRuns(t *testing.T, s side, percent int, plan *failing) (all []*run) {
	t.Helper()
	for i, name := range slices.Sorted(maps.Keys(apiFaults())) {
		var half []scenarios.Scenario
		for j, scenario := range chosen(t, s) {
			if (i+j+percent)%2 == 0 {
				half = append(half, scenario)
			}
		}
		for _, r := range b.newRuns(t, s, half) {
			plan.faults[r.namespace], plan.rates[r.namespace] = apiFaults()[name], float64(percent)/100
			all = append(all, r)
		}
	}
	return all
}

// failing fails a part of the requests of each namespace, until it is healed.
type failing struct {
	rates  map[string]float64
	faults map[string]proxy.Fault

	mu            sync.Mutex
	healed        bool
	asked, writes map[string]int
}

func (f *failing) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.healed = true
}

func (f *failing) fail(write *proxy.Write) proxy.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil {
		f.asked, f.writes = map[string]int{}, map[string]int{}
	}
	f.asked[write.Namespace]++
	if write.Verb != http.MethodGet {
		f.writes[write.Namespace]++
	}
	if !f.healed && hash(write.Key(), f.asked[write.Namespace]) < f.rates[write.Namespace] {
		return f.faults[write.Namespace]
	}
	return proxy.Fault{}
}

// count is how many writes there were in the namespaces, in all if none is named.
func (f *failing) count(namespaces []string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if namespaces == nil {
		namespaces = slices.Collect(maps.Keys(f.writes))
	}
	sum := 0
	for _, namespace := range namespaces {
		sum += f.writes[namespace]
	}
	return sum
}
