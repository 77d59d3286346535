// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

// The delay before a request that failed is sent again grows by a factor of two, from the shortest to
// the longest. A change that is watched ends it. Without an event, for example after a webhook
// changes its answer, a user waits for the longest at most.
const (
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = time.Minute
	// firstBackoffAfterChange is the first delay after a change which has not helped: what decides in
	// the host may see the change later than the controller does.
	firstBackoffAfterChange = 250 * time.Millisecond
	// shortestBetweenChanges is how long at least passes between the requests that changes of objects
	// cause: some objects change all the time.
	shortestBetweenChanges = time.Second
	// longestShortageBackoff is for a refusal that holds for every member, and that ends with an event.
	longestShortageBackoff = 5 * time.Minute
	// longestBetweenRefusals is for how long at most a refused request keeps others of its kind back that
	// have not been refused.
	longestBetweenRefusals = time.Second
)

// shortestEvictionBackoff is the first delay after a budget did not let a pod be evicted: the budgets of
// a namespace hardly change faster.
const shortestEvictionBackoff = 10 * time.Second

// failures are the requests of a set that have failed, with when each may be sent again,
// and how fast requests are sent, by their kind. Between, the set goes on being synced,
// because other things happen to it; but not every event is a reason to ask the host again
// for what it has just refused. They count for this set only and not for a later one of
// its name.
type failures struct {
	set types.UID
	// attempts have the text of plan.RequestOf as their key.
	attempts map[string]attempt
	paces    map[string]pace
}

// attempt is the last try of an action that failed.
type attempt struct {
	action action.Action
	err    error
	// generation is that of the set, version that of the object that was to change.
	generation int64
	version    string
	// began and at are when it began and when it failed.
	began, at time.Time
	delay     time.Duration
	until     time.Time
}

// failed returns what has failed for a set. It must not be changed.
func (m *memo) failed(set types.UID) failures {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failures.set == set {
		return m.failures
	}
	return failures{}
}

// keepFailures notes what failed in the last sync of a set; an action that was not among
// it begins again with the shortest delay.
func (m *memo) keepFailures(set types.UID, failed failures) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(failed.attempts) == 0 && len(failed.paces) == 0 {
		m.failures = failures{}
		return
	}
	failed.set = set
	m.failures = failed
}

// failedSo reports whether the last sync of the set had a failure of some sort.
func (m *memo) failedSo(sort func(error) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.failures.attempts {
		if sort(a.err) {
			return true
		}
	}
	for _, p := range m.failures.paces {
		if p.err != nil && sort(p.err) {
			return true
		}
	}
	return false
}

// again is the attempt that follows a failure. A namespace that is going away does
// not come back.
func (a attempt) again(err error, began, now time.Time) attempt {
	first, longest := shortestBackoff, longestBackoff
	switch {
	case plan.IsNotAllowed(err):
		first = shortestEvictionBackoff
	case isShortage(err):
		first, longest = shortageBackoff, longestShortageBackoff
	}
	delay := min(max(2*a.delay, first), longest)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		delay = longestShortageBackoff
	}
	a.err, a.began, a.at, a.delay, a.until = err, began, now, delay, now.Add(delay)
	return a
}

// isShortage reports whether the host refuses for a reason that has nothing to do with
// the one member that it was asked for.
func isShortage(err error) bool {
	return isQuota(err) || apierrors.IsTooManyRequests(err) && !plan.IsNotAllowed(err) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// isQuota reports whether a quota is used up. The host says so in words only.
func isQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// isAboutRequest reports whether a failure is about the one request: the host, or a webhook that it asks,
// may answer another one otherwise.
func isAboutRequest(err error) bool {
	return !isShortage(err) && (plan.IsRefusal(err) || strings.Contains(err.Error(), "failed calling webhook"))
}

// renewed is a failure as it counts now. Where the set has changed since, the host is asked at once. A
// change of the object itself, or of something on which the answer may depend, is a reason to ask
// soon.
func (e *execution) renewed(a attempt, version string) attempt {
	switch {
	case a.err == nil:
	case a.generation != e.set.Generation:
		a.until, a.delay = time.Time{}, 0
	case a.version != version || e.term.changes.since(a.err, e.key.Namespace, a.began):
		a.delay = min(a.delay, firstBackoffAfterChange/2)
		if soon := a.began.Add(shortestBetweenChanges); soon.Before(a.until) {
			a.until = soon
		}
	}
	return a
}

// lastFailure is what came of a request when it was last sent, if it has failed then.
func (e *execution) lastFailure(act action.Action) attempt {
	if len(e.earlier.attempts) == 0 {
		return attempt{}
	}
	return e.renewed(e.earlier.attempts[plan.RequestOf(act)], plan.TargetOf(act).ResourceVersion)
}

// noteFailure remembers that a request has failed, for a reason that is not a shortage.
func (e *execution) noteFailure(act action.Action, err error, began time.Time) attempt {
	last := e.lastFailure(act)
	last.action, last.generation, last.version = act, e.set.Generation, plan.TargetOf(act).ResourceVersion
	last = last.again(err, began, e.term.Clock.Now())
	e.failed[plan.RequestOf(act)] = last
	return last
}

// toRemember is what the next execution has to know of this one, and of those before it
// about what this one has not come to.
func (e *execution) toRemember() failures {
	kept := failures{attempts: e.failed, paces: map[string]pace{}}
	now := e.term.Clock.Now()
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
	for request, last := range e.earlier.attempts {
		if _, known := kept.attempts[request]; !known && last.until.After(now) {
			kept.attempts[request] = last
		}
	}
	return kept
}
