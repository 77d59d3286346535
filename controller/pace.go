// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"time"

	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

// shortageBackoff is the first delay after a refusal that applies to every member: a quota that is
// used up does not get room within milliseconds.
const shortageBackoff = 250 * time.Millisecond

// pace limits how many actions of one kind a set begins: one, then two, four and so on at a time
// while they succeed. After a failure none begins for a while, and then one, a different one if
// possible. So a cluster that has problems, or no room, gets requests for only one member. A
// refusal for one member delays the others for at most a second. So a set with many members that
// are all refused sends one request a second.
type pace struct {
	// window is how many actions may run at the same time.
	window int
	// attempt is the last failed attempt, without a time if one has succeeded since.
	attempt
}

func (p *pace) waits(now time.Time) bool { return p.until.After(now) }

// succeeded widens the window. An action that began before the last failure proves nothing about
// the time after it.
func (p *pace) succeeded(began time.Time) {
	if p.err == nil || began.After(p.at) {
		p.window, p.attempt = min(max(p.window, 1)+1, writesPerSet), attempt{}
	}
}

// failed closes the window. A failure of an action that began before the last failure does not
// increase the delay.
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

// actionKind names the kind of an action. A failed dry run of an eviction says nothing about
// actions that need no such dry run.
func actionKind(act action.Action) string {
	if action.AsksBudgets(act) {
		return fmt.Sprintf("%T as budgets allow", act)
	}
	return fmt.Sprintf("%T", act)
}

// paceOf is the pace of a kind of actions, which begins as the last sync left it.
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

// retryLater schedules a sync of the set for when an action may be retried.
func (e *execution) retryLater(act action.Action) {
	until := e.failed[plan.RequestKey(act)].until
	if p := e.paceOf(actionKind(act)); p.until.After(until) {
		until = p.until
	}
	if wait := max(until.Sub(e.term.config.Clock.Now()), shortestBackoff); e.done.retryAfter == 0 || wait < e.done.retryAfter {
		e.done.retryAfter = wait
	}
}
