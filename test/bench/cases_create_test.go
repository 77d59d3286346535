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
		results: withHostWrites(floor,
			measure.Result{Measure: "members created", Unit: "per second", Better: measure.More,
				Goals: []measure.Goal{against(builtIn(), 2), beside(builtInDefault()), beside(bareClient())}},
			measure.Result{Measure: "members ready", Unit: "per second", Better: measure.More,
				Goals: []measure.Goal{beside(builtIn()), beside(builtInDefault()), beside(bareClient())}},
			processors()),
		take: func(t *turn) samples { return t.createParallel(t.size(n), append(options, parallel)) },
	}
}

// createParallel measures from the request for the set until its last pod is there.
func (t *turn) createParallel(n int, options []option) samples {
	begun, before := time.Now(), t.ticks(t.T)
	if t.bare() {
		t.bareParallel(set("db", n, options...), n)
	} else {
		t.create(set("db", n, options...))
	}
	created := t.await(&t.pods.created, n).Sub(begun)
	ready := t.await(&t.pods.ready, n).Sub(begun)
	return t.addWrites(samples{
		"members created": float64(n) / created.Seconds(),
		"members ready":   float64(n) / ready.Seconds(),
		"processors":      milliseconds(t.ticks(t.T).Worked(before)) / float64(n),
	}, n)
}

func orderedCase(name, title string, floor float64, options ...option) benchCase {
	return benchCase{
		name: name, title: title, sides: append(controllers(), bareClient()),
		results: withHostWrites(floor, perMember(2), processors()),
		take:    func(t *turn) samples { return t.createOrdered(t.size(100), options) },
	}
}

// createOrdered measures from the request for the set until its last pod is Ready.
func (t *turn) createOrdered(n int, options []option) samples {
	begun, before := time.Now(), t.ticks(t.T)
	if t.bare() {
		t.bareOrdered(set("db", n, options...), n)
	} else {
		t.create(set("db", n, options...))
	}
	took := t.await(&t.pods.ready, n).Sub(begun)
	worked := t.ticks(t.T).Worked(before)
	return t.addWrites(samples{"time": milliseconds(took) / float64(n), "processors": milliseconds(worked) / float64(n)}, n)
}

// processors is what a member costs the whole machine: all that the side asks of the host,
// of our server and of KWOK is in it. With all processors busy, it is what bounds the rate.
func processors() measure.Result {
	return measure.Result{Measure: "processors", Unit: "ms per member, of the whole machine", Better: measure.Less,
		Goals: []measure.Goal{beside(builtIn()), beside(bareClient())}}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
