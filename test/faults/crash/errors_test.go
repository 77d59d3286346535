//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"statefulset.dev/test/faults/lab"
	"statefulset.dev/test/faults/proxy"
)

// tooManyRetries is how many times the writes of a run without faults may be written
// when every fifth fails.
const tooManyRetries = 3

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
	counter := &failing{}
	host.Fail(counter.fail)
	reference := b.reference(t, s)
	usual := counter.count()

	v := newVerdict("API errors", s)
	for _, percent := range []int{1, 5, 20, 50} {
		plan := &failing{rate: float64(percent) / 100, faults: map[string]proxy.Fault{}}
		var runs []*run
		for _, fault := range apiFaults() {
			for _, r := range b.newRuns(t, s, chosen(t)) {
				plan.faults[r.namespace] = fault
				runs = append(runs, r)
			}
		}
		host.Fail(plan.fail)
		playAll(t, runs)
		v.runs += len(runs)
		b.judgeAll(t, v, runs, reference)
		ratio := float64(plan.count()) / float64(len(apiFaults())*usual)
		v.note("%d %%: %.1f times the writes", percent, ratio)
		if percent == 20 && ratio > tooManyRetries {
			v.add("all runs", violation{bounded, fmt.Sprintf("got %.1f times the writes of runs without faults, want at most %d", ratio, tooManyRetries)})
		}
	}
	v.report(t, b)
}

// failing fails a part of the requests of each namespace.
type failing struct {
	rate   float64
	faults map[string]proxy.Fault

	mu     sync.Mutex
	asked  map[string]int
	writes int
}

func (f *failing) fail(write *proxy.Write) proxy.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil {
		f.asked = map[string]int{}
	}
	f.asked[write.Namespace]++
	if write.Verb != http.MethodGet {
		f.writes++
	}
	if hash(write.Key(), f.asked[write.Namespace]) < f.rate {
		return f.faults[write.Namespace]
	}
	return proxy.Fault{}
}

func (f *failing) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}
