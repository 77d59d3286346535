// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"statefulset.dev/controller/plan"
)

// shortageBackoff is the first delay after a refusal that holds for every member: a
// quota that is used up does not get room in milliseconds.
const shortageBackoff = 250 * time.Millisecond

// pace is how fast actions of one kind are begun for a set: one, then two, four and
// so on at a time for as long as they succeed. After a failure none is begun for a
// while, and then one again, another one if there is any. So a host that refuses all
// members is asked about one of them.
type pace struct {
	// window is how many may be under way.
	window int
	// attempt is the last one in vain, without a time if one has succeeded since.
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
func (p *pace) failed(err error, began, now time.Time) {
	p.window = 1
	if p.err == nil || began.After(p.at) {
		p.attempt = p.again(err, began, now)
	}
}

// isShortage reports whether the host refuses for a reason that has nothing to do with
// the one member that it was asked for.
func isShortage(err error) bool {
	return isQuota(err) || apierrors.IsTooManyRequests(err) && !plan.IsNotAllowed(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// isQuota reports whether a quota is used up. The host says so in words only.
func isQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// kindOf names the kind of an action. That the host does not say whether it would evict a pod says
// nothing of actions before which it is not asked.
func kindOf(action plan.Action) string {
	if plan.AsksBudgets(action) {
		return fmt.Sprintf("%T as budgets allow", action)
	}
	return fmt.Sprintf("%T", action)
}

// paceOf is the pace of a kind of actions, at first as the last sync left it.
func (e *execution) paceOf(kind string) *pace {
	if p, ok := e.paces[kind]; ok {
		return p
	}
	p := e.earlier.paces[kind]
	if e.roomFor(p) {
		p.until, p.delay = time.Time{}, 0
	}
	e.paces[kind] = &p
	return &p
}

// lastFailure is what came of an action when it was last tried, if it has failed then.
func (e *execution) lastFailure(action plan.Action) attempt {
	if len(e.earlier.attempts) == 0 {
		return attempt{}
	}
	return e.earlier.attempts[action.String()]
}

// noteFailure remembers that an action has failed, unless it says nothing about this
// action alone.
func (e *execution) noteFailure(action plan.Action, err error, began time.Time) {
	if isShortage(err) {
		return
	}
	e.failed[action.String()] = e.lastFailure(action).again(err, began, e.Clock.Now())
}

// retryLater sees to it that the set is looked at again when an action may be tried.
func (e *execution) retryLater(action plan.Action) {
	until := e.failed[action.String()].until
	if p := e.paceOf(kindOf(action)); p.until.After(until) {
		until = p.until
	}
	if wait := max(until.Sub(e.Clock.Now()), shortestBackoff); e.done.retryAfter == 0 || wait < e.done.retryAfter {
		e.done.retryAfter = wait
	}
}

// toRemember is what the next execution has to know of this one, and of those before it
// about what this one has not come to.
func (e *execution) toRemember() failures {
	kept := failures{attempts: e.failed, paces: map[string]pace{}}
	now := e.Clock.Now()
	for kind, p := range e.earlier.paces {
		if p.waits(now) {
			kept.paces[kind] = p
		}
	}
	for kind, p := range e.paces {
		kept.paces[kind] = *p
	}
	if len(e.done.failures) == 0 && !e.done.unfinished && e.done.stopped == nil {
		kept.paces = nil
	}
	for action, last := range e.earlier.attempts {
		if _, known := kept.attempts[action]; !known && last.until.After(now) {
			kept.attempts[action] = last
		}
	}
	return kept
}
