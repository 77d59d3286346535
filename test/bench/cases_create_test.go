//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"time"

	"statefulset.dev/test/bench/measure"
)

func parallelCase(name, title string, n int, floor float64, options ...option) benchCase {
	return benchCase{
		name: name, title: title, sides: append(controllers(), bareClient()),
		results: withHostWrites(floor, measure.Result{Measure: "members created", Unit: "per second", Better: measure.More,
			Goals: []measure.Goal{against(builtIn(), 2), beside(builtInDefault()), beside(bareClient())}}),
		take: func(t *turn) samples { return t.createParallel(t.size(n), append(options, parallel)) },
	}
}

// createParallel measures from the request for the set until its last pod is there.
func (t *turn) createParallel(n int, options []option) samples {
	begun := time.Now()
	if t.bare() {
		t.bareParallel(set("db", n, options...), n)
	} else {
		t.create(set("db", n, options...))
	}
	took := t.await(&t.pods.created, n).Sub(begun)
	t.await(&t.pods.ready, n)
	return t.addWrites(samples{"members created": float64(n) / took.Seconds()}, n)
}

func orderedCase(name, title string, floor float64, options ...option) benchCase {
	return benchCase{
		name: name, title: title, sides: append(controllers(), bareClient()),
		results: withHostWrites(floor, perMember(2)),
		take:    func(t *turn) samples { return t.createOrdered(t.size(100), options) },
	}
}

// createOrdered measures from the request for the set until its last pod is Ready.
func (t *turn) createOrdered(n int, options []option) samples {
	begun := time.Now()
	if t.bare() {
		t.bareOrdered(set("db", n, options...), n)
	} else {
		t.create(set("db", n, options...))
	}
	took := t.await(&t.pods.ready, n).Sub(begun)
	return t.addWrites(samples{"time": milliseconds(took) / float64(n)}, n)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
