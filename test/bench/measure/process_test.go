// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"maps"
	"os"
	"runtime"
	"testing"
	"time"
)

func TestProcessTime(t *testing.T) {
	const stat = "123 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0\n"
	if got, err := parseProcessTime(stat); err != nil || got != 3*time.Second {
		t.Errorf("got %v and error %v, want 3s", got, err)
	}
	for _, bad := range []string{"", "123 (name) S 1 2", "123 (name) S 1 2 3 4 5 6 7 8 9 10 x 50 0"} {
		if _, err := parseProcessTime(bad); err == nil {
			t.Errorf("%q: got no error, want one", bad)
		}
	}
	if _, err := ProcessTime(os.Getpid()); err != nil {
		t.Errorf("of this process: %v", err)
	}
}

func TestThePeakOfAProcess(t *testing.T) {
	before, err := ResetPeak(os.Getpid())
	if err != nil {
		t.Fatalf("resetting: %v", err)
	}
	const size = 64 << 20
	used := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		used[i] = 1
	}
	runtime.KeepAlive(used)
	peak, err := Peak(os.Getpid())
	if err != nil {
		t.Fatalf("reading the peak: %v", err)
	}
	if more := peak - before; more < size/2 {
		t.Errorf("after %d bytes were used: got a peak of %.0f more, want about as many", size, more)
	}
	if _, err := memoryOf(os.Getpid(), "Absent"); err == nil {
		t.Error("an entry that is not there: got no error, want one")
	}
}

func TestMetric(t *testing.T) {
	const text = "# TYPE heap gauge\nheap_total 5\nheap 1.5e+06\n"
	if got, err := Metric(text, "heap"); err != nil || got != 1.5e6 {
		t.Errorf("got %v and error %v, want 1.5e6", got, err)
	}
	if _, err := Metric(text, "absent"); err == nil {
		t.Error("an absent metric: got no error, want one")
	}
}

func TestGoBenchmark(t *testing.T) {
	const output = "goos: linux\nBenchmarkLookFar-2 \t 9 \t 1 ns/op\nBenchmarkLook-2   \t      20\t 112804408 ns/op\t 1357332 B/op\t     332 allocs/op\nPASS\n"
	got, err := GoBenchmark(output, "BenchmarkLook")
	if want := map[string]float64{"ns/op": 112804408, "B/op": 1357332, "allocs/op": 332}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v and error %v, want %v", got, err, want)
	}
	if _, err := GoBenchmark(output, "BenchmarkAbsent"); err == nil {
		t.Error("an absent benchmark: got no error, want one")
	}
}
