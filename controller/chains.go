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

// walk carries out chains in parallel. Each kind of action has its own pace: if the cluster refuses
// all creates, the walk tries only one of them, and still carries out deletions.
type walk struct {
	exec *execution

	chains []action.Chain
	// stops records for each chain where and why it stopped, nil if it completed.
	stops []*stop
	// kinds are the kinds of the actions that may begin, in the order in which the walk reached
	// them.
	kinds []string
	ready map[string][]link
	// under is how many actions of a kind are running, running how many of all kinds.
	under    map[string]int
	running  int
	outcomes chan outcome
}

// link is an action of a chain that may begin.
type link struct {
	chain, at int
	// failed is the time until which an earlier failure delayed the action, zero if none did.
	failed time.Time
}

// outcome is the result of a link.
type outcome struct {
	link
	began time.Time
	err   error
}

// stop is the action at which a chain stopped, and the reason.
type stop struct {
	action action.Action
	err    error
	// tried is the attempt that failed. It is of another action if that action's failure delays
	// this one, and it has no action if nothing was tried.
	tried attempt
}

// walk carries out chains, and reports whether all of them completed. If an action is refused or
// does not begin, the walk skips the rest of its chain.
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
	return w.report()
}

func (w *walk) action(l link) action.Action { return w.chains[l.chain][l.at] }

// reach adds the action at a position of a chain to those that may begin, if the chain is that
// long. Actions that have not failed come first, then those that failed, the oldest failure first.
// An action that must not be retried yet fails with the error of its last attempt.
func (w *walk) reach(chain, at int) {
	if at == len(w.chains[chain]) {
		return
	}
	l := link{chain: chain, at: at}
	last := w.exec.lastFailure(w.action(l))
	if last.until.After(w.exec.began) {
		w.exec.failed[plan.RequestKey(w.action(l))] = last
		w.stops[chain] = &stop{w.action(l), last.err, last}
		return
	}
	l.failed = last.until
	kind := actionKind(w.action(l))
	if !slices.Contains(w.kinds, kind) {
		w.kinds = append(w.kinds, kind)
	}
	place, _ := slices.BinarySearchFunc(w.ready[kind], l, func(a, b link) int {
		return cmp.Or(a.failed.Compare(b.failed), -1) // behind its equals
	})
	w.ready[kind] = slices.Insert(w.ready[kind], place, l)
}

// begin begins as many actions of each kind as its pace allows.
func (w *walk) begin(ctx context.Context) {
	for _, kind := range w.kinds {
		p := w.exec.paceOf(kind)
		for len(w.ready[kind]) > 0 && w.under[kind] < w.most(kind, p) && !p.waits(w.exec.term.config.Clock.Now()) && !w.exec.turn.isOver() {
			l := w.ready[kind][0]
			w.ready[kind] = w.ready[kind][1:]
			w.under[kind]++
			w.running++
			act, began := w.action(l), w.exec.term.config.Clock.Now()
			go func() {
				w.outcomes <- outcome{l, began, hostread.CatchPanic(ctx, func() error { return w.exec.carryOut(ctx, act) })}
			}()
		}
	}
}

// most is how many actions of a kind may run at the same time. Actions that use up disruption
// budgets run one by one, so that the first in order gets what a budget allows.
func (w *walk) most(kind string, p *pace) int {
	if action.AsksBudgets(w.action(w.ready[kind][0])) {
		return 1
	}
	return max(p.window, 1)
}

// end records the result of an action.
func (w *walk) end(ctx context.Context, o outcome) {
	kind := actionKind(w.action(o.link))
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
	// An eviction that is not allowed for one pod says nothing about other pods.
	if !plan.IsNotAllowed(o.err) {
		p.failed(act, w.exec.set.Generation, o.err, o.began, w.exec.term.config.Clock.Now())
		w.exec.handleQuotaRefusal(ctx, p)
	}
	w.exec.term.watchChanges(ctx, o.err)
	if isShortage(o.err) {
		stopped.tried = p.attempt
	} else {
		stopped.tried = w.exec.recordFailure(act, o.err, o.began)
	}
}

// giveUp stops the chains whose next action has not begun. If its kind is waiting after a failure,
// the action fails with that error, and the report names the action that was tried. Otherwise the
// turn is over.
func (w *walk) giveUp() {
	for kind, left := range w.ready {
		p := w.exec.paceOf(kind)
		for _, l := range left {
			kept := stop{action: w.action(l), err: errTurnOver}
			if p.waits(w.exec.term.config.Clock.Now()) {
				kept.err, kept.tried = p.err, p.attempt
			}
			if last := w.exec.lastFailure(w.action(l)); last.err != nil {
				w.exec.failed[plan.RequestKey(w.action(l))] = last
			}
			w.stops[l.chain] = &kept
		}
	}
}

// report adds the results of the chains, in their order, to the report of the execution. An attempt
// counts once, no matter how many other actions it delays.
func (w *walk) report() bool {
	ok, reported := true, map[string]bool{}
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
			if request := plan.RequestKey(stop.tried.action); !reported[request] {
				reported[request] = true
				w.exec.done.failures = append(w.exec.done.failures,
					plan.Failure{Action: stop.tried.action, Err: stop.err, Tried: stop.tried.at, Next: stop.tried.until})
			}
		}
	}
	return ok
}
