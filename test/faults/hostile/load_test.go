//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// readers send the GETs of a load.
	readers = 64
	// usualRate is how many GETs a second there are beside an attack, or half of what the machine
	// can serve if that is less.
	usualRate = 500
	// sampling is the time between two samples of the server's heap.
	sampling = 100 * time.Millisecond
)

// load are GETs of sets, and what they met.
type load struct {
	codes   *tally
	began   time.Time
	ended   time.Time
	mu      sync.Mutex
	lengths []time.Duration
}

// read sends GETs of the stored sets until the context ends: as many a second as the rate says, or
// as many as are answered if it is 0.
func (w *world) read(ctx context.Context, client *http.Client, sets []string, rate int) *load {
	l := &load{codes: &tally{codes: map[int]int{}}, began: time.Now()}
	var interval time.Duration
	if rate > 0 {
		interval = readers * time.Second / time.Duration(rate)
	}
	var running sync.WaitGroup
	for reader := range readers {
		running.Go(func() {
			next := time.Now().Add(interval / readers * time.Duration(reader))
			for i := reader; ctx.Err() == nil; i++ {
				if interval > 0 {
					pause(ctx, time.Until(next))
					// What was missed is not made up for: the load is to stay the same.
					next = latest(next, time.Now().Add(-interval)).Add(interval)
				}
				if ctx.Err() == nil {
					l.one(w.t.Context(), client, sets[i%len(sets)])
				}
			}
		})
	}
	running.Wait()
	l.ended = time.Now()
	return l
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (l *load) one(ctx context.Context, client *http.Client, url string) {
	began := time.Now()
	l.codes.add(send(ctx, client, http.MethodGet, url, "", l.codes))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lengths = append(l.lengths, time.Since(began))
}

// rate is how many GETs were served a second.
func (l *load) rate() int {
	return int(float64(l.codes.of(http.StatusOK)) / l.ended.Sub(l.began).Seconds())
}

func (l *load) String() string {
	slices.Sort(l.lengths)
	at := func(part float64) time.Duration {
		if len(l.lengths) == 0 {
			return 0
		}
		return l.lengths[int(part*float64(len(l.lengths)-1))].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%s; %d served a second; half within %s, 99 of 100 within %s", l.codes, l.rate(), at(0.5), at(0.99))
}

// failed are the GETs that were neither served nor shed.
func (l *load) failed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lengths) - l.codes.of(http.StatusOK) - l.codes.of(http.StatusTooManyRequests)
}

// observed are the most that was seen of the server, and of the lease of its controller.
type observed struct {
	// heap is in use, resident is the peak of what the kernel has counted, in bytes.
	heap, resident int
	samples        int
	// renewal is the longest time between two renewals of the lease.
	renewal time.Duration
}

func (o observed) String() string {
	return fmt.Sprintf("heap in use %d MiB at most in %d samples; resident %d MiB at most; lease renewed within %s",
		o.heap>>20, o.samples, o.resident>>20, o.renewal.Round(100*time.Millisecond))
}

// observe samples the server until the context ends.
func (w *world) observe(ctx context.Context) (most observed) {
	w.forgetPeak()
	var renewed time.Time
	for ctx.Err() == nil {
		if heap, err := w.metric(w.t.Context(), "go_memstats_heap_inuse_bytes"); err == nil {
			most.heap, most.samples = max(most.heap, heap), most.samples+1
		}
		lease, err := w.Host.CoordinationV1().Leases(leaseNamespace).Get(w.t.Context(), leaseName, metav1.GetOptions{})
		if err == nil && lease.Spec.RenewTime != nil {
			if !renewed.IsZero() {
				most.renewal = max(most.renewal, lease.Spec.RenewTime.Sub(renewed))
			}
			renewed = lease.Spec.RenewTime.Time
		}
		pause(ctx, sampling)
	}
	if resident, err := w.peak(); err == nil {
		most.resident = resident
	}
	return most
}

// forgetPeak has the kernel count the peak of resident memory from now on.
func (w *world) forgetPeak() {
	if err := os.WriteFile(filepath.Join("/proc", strconv.Itoa(w.server.PID()), "clear_refs"), []byte("5"), 0o200); err != nil {
		w.t.Logf("the peak of resident memory includes what was before: %v", err)
	}
}
