// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package heap measures how much memory a function needs while it runs.
package heap

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Peak returns the maximum increase of the heap in bytes while a function runs: memory in use, and
// memory that is not collected yet. Nothing else in the process should run.
func Peak(do func()) uint64 {
	runtime.GC()
	before, done, sampled := onHeap(), make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		for {
			select {
			case <-done:
				sampled <- peak
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, onHeap())
			}
		}
	}()
	do()
	close(done)
	return max(<-sampled, before) - before
}

func onHeap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
