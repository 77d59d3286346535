// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"time"

	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

// shortageBackoff is the first delay after a refusal that holds for every member: a
// quota that is used up does not get room in milliseconds.
const shortageBackoff = 250 * time.Millisecond

// pace is how fast actions of one kind are begun for a set: one, then two, four and
// so on at a time for as long as they succeed. After a failure none is begun for a
// while, and then one again, another one if there is any. So a host that is in trouble, or that
// has no room, is asked about one member. A refusal of one member keeps the others back for a
// second at most, so a set of many members that are all refused asks once a second.
type pace struct {
	// window is how many may be under way.
	window int
	// attempt is the last one that failed, without a time if one has succeeded since.
	attempt
}

func (p *pace) waits(now time.Time) bool { return p.until.After(now) }

// succeeded widens the window. What was begun before the last failure shows nothing
// about the time after it.
func (p *pace) succeeded(began time.Time) {
	if p.err == nil || began.After(p.at) {
		p.window, p.attempt = min(max(p.window, 1)+1, writesPerSet), attempt{}
	}
}

// failed closes the window. Failures of what was begun before the last one do not add
// to the delay.
func (p *pace) failed(act action.Action, generation int64, err error, began, now time.Time) {
	p.window = 1
	if p.err != nil && !began.After(p.at) {
		return
	}
	p.action, p.generation = act, generation
	p.attempt = p.again(err, began, now)
	if isAboutRequest(err) {
		p.delay = min(p.delay, longestBetweenRefusals)
		p.until = now.Add(p.delay)
	}
}

// kindOf names the kind of an action. That the host does not say whether it would evict a pod says
// nothing of actions before which it is not asked.
func kindOf(act action.Action) string {
	if action.AsksBudgets(act) {
		return fmt.Sprintf("%T as budgets allow", act)
	}
	return fmt.Sprintf("%T", act)
}

// paceOf is the pace of a kind of actions, at first as the last sync left it.
func (e *execution) paceOf(kind string) *pace {
	if p, ok := e.paces[kind]; ok {
		return p
	}
	p := e.earlier.paces[kind]
	p.attempt = e.renewed(p.attempt, p.version)
	if e.roomFor(p) {
		p.until, p.delay = time.Time{}, 0
	}
	e.paces[kind] = &p
	return &p
}

// retryLater sees to it that the set is synced again when an action may be tried.
func (e *execution) retryLater(act action.Action) {
	until := e.failed[plan.RequestOf(act)].until
	if p := e.paceOf(kindOf(act)); p.until.After(until) {
		until = p.until
	}
	if wait := max(until.Sub(e.term.Clock.Now()), shortestBackoff); e.done.retryAfter == 0 || wait < e.done.retryAfter {
		e.done.retryAfter = wait
	}
}
