// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"
)

// choice is something that could happen next.
type choice struct {
	// weight is how likely it is if chance decides, against that of the others.
	weight int
	do     func()
}

// choices are all things that could happen now. In a run without chance the first
// one does: answers come at once, events in the order of the streams, and the host
// works when the controllers have nothing to do.
func (w *world) choices() []choice {
	var all []choice
	for _, a := range w.dueAppointments() {
		all = append(all, choice{20, func() { w.keep(a) }})
	}
	for _, c := range w.calls {
		switch {
		case c.by.cut:
		case !c.committed:
			all = append(all, choice{10, func() { w.serve(c) }})
		default:
			all = append(all, choice{10, func() { w.reply(c) }})
		}
	}
	if !w.random {
		slices.SortStableFunc(all, func(a, b choice) int { return b.weight - a.weight })
	}
	for _, s := range w.streams {
		if s.waits() {
			all = append(all, choice{8, func() { w.pass(s) }})
		}
	}
	if w.user.ready() {
		all = append(all, choice{5, w.user.act})
	}
	all = append(all, w.agent.choices()...)
	all = append(all, w.collector.choices()...)
	if w.random && len(all) > 0 {
		all = append(all, choice{2, func() { time.Sleep(time.Duration(1+w.rng.IntN(50)) * time.Millisecond) }})
	}
	return all
}

// pick chooses by chance.
func (w *world) pick(choices []choice) int {
	total := 0
	for _, c := range choices {
		total += c.weight
	}
	n := w.rng.IntN(total)
	for i, c := range choices {
		if n -= c.weight; n < 0 {
			return i
		}
	}
	return 0
}

func (w *world) dueAppointments() []*appointment {
	var due []*appointment
	for _, a := range w.appointments {
		if !a.at.After(time.Now()) {
			due = append(due, a)
		}
	}
	return due
}

func (w *world) keep(kept *appointment) {
	w.appointments = slices.DeleteFunc(w.appointments, func(a *appointment) bool { return a == kept })
	// What a fault leaves behind may take a while to show.
	w.touched = time.Now()
	kept.do()
}

// serve carries out a call, unless there is a fault that has it otherwise.
func (w *world) serve(c *call) {
	if c.writes() {
		c.by.writes++
		w.writes++
		w.touched = time.Now()
	}
	if w.fault.call == nil || !w.fault.call(w, c) {
		w.commit(c)
	}
}

// pass delivers the next event, unless there is a fault that has it otherwise.
func (w *world) pass(s *stream) {
	if s.Beginning() || w.fault.event == nil || !w.fault.event(w, s) {
		w.deliver(s)
	}
	if at := slices.Index(w.streams, s); w.busy > unfair && at >= 0 {
		w.streams = append(slices.Delete(w.streams, at, at+1), s)
	}
}

// unfair is for how many steps one stream may have others wait. Two controllers that answer each other
// would have one of them never hear of anything else.
const unfair = 500
