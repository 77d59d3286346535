// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

// walk carries out chains side by side. Each kind of action has its own pace, so that a
// host which refuses all creates is asked about one of them, and still removes what has to
// go.
type walk struct {
	exec *execution

	chains []action.Chain
	// stops are why chains have come to no end, nil for those that have.
	stops []*stop
	// kinds are those of the links that may be begun, in the order in which they came up.
	kinds []string
	ready map[string][]link
	// under is how many actions of a kind are under way, running how many of all.
	under    map[string]int
	running  int
	outcomes chan outcome
}

// link is an action of a chain that may be begun.
type link struct {
	chain, at int
	// failed is until when a failure kept it from being tried, zero if none did.
	failed time.Time
}

// outcome is what came of a link.
type outcome struct {
	link
	began time.Time
	err   error
}

// stop is the action at which a chain has stopped, and why.
type stop struct {
	action action.Action
	err    error
	// tried is what was tried, which is another action where that one's failure keeps this one back;
	// without an action if none was.
	tried attempt
}

// walk carries out chains, and reports whether all of them succeeded as a whole. Of a
// chain whose action was refused, or not begun, the rest is left out.
func (e *execution) walk(ctx context.Context, chains ...action.Chain) bool {
	e.confirmBefore(ctx, chains)
	w := &walk{exec: e, chains: chains, stops: make([]*stop, len(chains)), ready: map[string][]link{}, under: map[string]int{},
		outcomes: make(chan outcome)}
	for i := range chains {
		w.reach(i, 0)
	}
	for w.begin(ctx); w.running > 0; w.begin(ctx) {
		w.end(ctx, <-w.outcomes)
	}
	w.giveUp()
	return w.tell()
}

func (w *walk) action(l link) action.Action { return w.chains[l.chain][l.at] }

// reach makes an action of a chain one that may be begun, if there is one more. Those
// that have not failed come first, then those that have, the longest ago first. One that
// it is too early to try again fails as it did last time.
func (w *walk) reach(chain, at int) {
	if at == len(w.chains[chain]) {
		return
	}
	l := link{chain: chain, at: at}
	last := w.exec.lastFailure(w.action(l))
	if last.until.After(w.exec.began) {
		w.exec.failed[plan.RequestOf(w.action(l))] = last
		w.stops[chain] = &stop{w.action(l), last.err, last}
		return
	}
	l.failed = last.until
	kind := kindOf(w.action(l))
	if !slices.Contains(w.kinds, kind) {
		w.kinds = append(w.kinds, kind)
	}
	place, _ := slices.BinarySearchFunc(w.ready[kind], l, func(a, b link) int {
		return cmp.Or(a.failed.Compare(b.failed), -1) // behind all that are as good
	})
	w.ready[kind] = slices.Insert(w.ready[kind], place, l)
}

// begin begins as many actions of each kind as its pace allows.
func (w *walk) begin(ctx context.Context) {
	for _, kind := range w.kinds {
		p := w.exec.paceOf(kind)
		for len(w.ready[kind]) > 0 && w.under[kind] < w.most(kind, p) && !p.waits(w.exec.term.Clock.Now()) && !w.exec.turn.isOver() {
			l := w.ready[kind][0]
			w.ready[kind] = w.ready[kind][1:]
			w.under[kind]++
			w.running++
			act, began := w.action(l), w.exec.term.Clock.Now()
			go func() {
				w.outcomes <- outcome{l, began, hostread.Guarded(ctx, func() error { return w.exec.carryOut(ctx, act) })}
			}()
		}
	}
}

// most is how many actions of a kind may be under way. Of those that use up what budgets allow, the
// first has the first word.
func (w *walk) most(kind string, p *pace) int {
	if action.AsksBudgets(w.action(w.ready[kind][0])) {
		return 1
	}
	return max(p.window, 1)
}

// end notes what came of an action.
func (w *walk) end(ctx context.Context, o outcome) {
	kind := kindOf(w.action(o.link))
	p := w.exec.paceOf(kind)
	w.under[kind]--
	w.running--
	if o.err == nil {
		p.succeeded(o.began)
		w.reach(o.chain, o.at+1)
		return
	}
	act, stopped := w.action(o.link), &stop{action: w.action(o.link), err: o.err}
	w.stops[o.chain] = stopped
	if !isFailure(o.err) {
		return
	}
	// That one pod may not be evicted says nothing of others.
	if !plan.IsNotAllowed(o.err) {
		p.failed(act, w.exec.set.Generation, o.err, o.began, w.exec.term.Clock.Now())
		w.exec.mindRefusal(ctx, p)
	}
	w.exec.term.watchChanges(ctx, o.err)
	if isShortage(o.err) {
		stopped.tried = p.attempt
	} else {
		stopped.tried = w.exec.noteFailure(act, o.err, o.began)
	}
}

// giveUp ends the chains whose next action was not begun: it fails as the last one of its
// kind did, which is reported in its place, or has had no turn.
func (w *walk) giveUp() {
	for kind, left := range w.ready {
		p := w.exec.paceOf(kind)
		for _, l := range left {
			kept := stop{action: w.action(l), err: errTurnOver}
			if p.waits(w.exec.term.Clock.Now()) {
				kept.err, kept.tried = p.err, p.attempt
			}
			if last := w.exec.lastFailure(w.action(l)); last.err != nil {
				w.exec.failed[plan.RequestOf(w.action(l))] = last
			}
			w.stops[l.chain] = &kept
		}
	}
}

// tell notes what came of the chains, in their order, for whoever asked for them. An action that was
// tried counts once, however many others it keeps back.
func (w *walk) tell() bool {
	ok, told := true, map[string]bool{}
	for _, stop := range w.stops {
		if stop == nil {
			continue
		}
		ok = false
		switch {
		case errors.Is(stop.err, errTurnOver):
			w.exec.done.unfinished = true
		case !isFailure(stop.err):
			w.exec.done.stopped, w.exec.done.stoppedAt = stop.err, stop.action
		default:
			w.exec.retryLater(stop.action)
			if request := plan.RequestOf(stop.tried.action); !told[request] {
				told[request] = true
				w.exec.done.failures = append(w.exec.done.failures,
					plan.Failure{Action: stop.tried.action, Err: stop.err, Tried: stop.tried.at, Next: stop.tried.until})
			}
		}
	}
	return ok
}
