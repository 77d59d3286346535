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

// The delay before a failed request is retried doubles from the shortest to the longest. A watched
// change ends the delay. Without an event, for example after a webhook changes its answer, a user
// waits at most for the longest delay.
const (
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = time.Minute
	// firstBackoffAfterChange is the first delay after a change that did not help: the admission of
	// the cluster may see the change later than the controller does.
	firstBackoffAfterChange = 250 * time.Millisecond
	// shortestBetweenChanges is the minimum time between requests that changes of objects cause:
	// some objects change all the time.
	shortestBetweenChanges = time.Second
	// longestShortageBackoff is for a refusal that applies to every member, and that ends with an
	// event.
	longestShortageBackoff = 5 * time.Minute
	// longestBetweenRefusals is how long a refused request delays others of its kind that were not
	// refused, at most.
	longestBetweenRefusals = time.Second
)

// shortestEvictionBackoff is the first delay after a budget did not allow an eviction: the budgets
// of a namespace hardly change faster.
const shortestEvictionBackoff = 10 * time.Second

// failures are the failed requests of a set, with the time when each may be retried, and the pace
// of each kind of request. Meanwhile the set is still synced, because other things happen to it.
// But not every event is a reason to repeat a request that the cluster has just refused. Failures
// count only for this set, not for a later set with the same name.
type failures struct {
	set types.UID
	// attempts have the text of plan.RequestKey as their key.
	attempts map[string]attempt
	paces    map[string]pace
}

// attempt is the last failed attempt of an action.
type attempt struct {
	action action.Action
	err    error
	// generation is that of the set, version that of the object to change.
	generation int64
	version    string
	// began and at are when the attempt began and when it failed.
	began, at time.Time
	delay     time.Duration
	until     time.Time
}

// failed returns the failures of a set. They must not be changed.
func (m *setState) failed(set types.UID) failures {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failures.set == set {
		return m.failures
	}
	return failures{}
}

// keepFailures records what failed in the last sync of a set. An action that is not among these
// failures starts with the shortest delay if it fails again.
func (m *setState) keepFailures(set types.UID, failed failures) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(failed.attempts) == 0 && len(failed.paces) == 0 {
		m.failures = failures{}
		return
	}
	failed.set = set
	m.failures = failed
}

// failedSo reports whether the last sync of the set had a failure of some kind.
func (m *setState) failedSo(sort func(error) bool) bool {
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

// again is the attempt after one more failure. A terminating namespace does not come back, so its
// delay is the longest.
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

// isShortage reports whether the cluster refused a request for a reason that has nothing to do with
// the member that it was for.
func isShortage(err error) bool {
	return isQuota(err) || apierrors.IsTooManyRequests(err) && !plan.IsNotAllowed(err) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// isQuota reports whether a quota is used up. Only the text of the error says so.
func isQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// isAboutRequest reports whether a failure may concern only this request: the cluster, or a webhook
// that it calls, may answer another request differently.
func isAboutRequest(err error) bool {
	return !isShortage(err) && (plan.IsRefusal(err) || strings.Contains(err.Error(), "failed calling webhook"))
}

// renewed is a failure as it counts now. If the set has changed since, the request may be repeated
// at once. A change of the object itself, or of something on which the answer may depend, is a
// reason to repeat it soon.
func (e *execution) renewed(a attempt, version string) attempt {
	switch {
	case a.err == nil:
	case a.generation != e.set.Generation:
		a.until, a.delay = time.Time{}, 0
	case a.version != version || e.term.changes.hasChangedSince(a.err, e.key.Namespace, a.began):
		a.delay = min(a.delay, firstBackoffAfterChange/2)
		if soon := a.began.Add(shortestBetweenChanges); soon.Before(a.until) {
			a.until = soon
		}
	}
	return a
}

// lastFailure is the last attempt of a request, if it failed.
func (e *execution) lastFailure(act action.Action) attempt {
	if len(e.earlier.attempts) == 0 {
		return attempt{}
	}
	return e.renewed(e.earlier.attempts[plan.RequestKey(act)], plan.TargetOf(act).ResourceVersion)
}

// recordFailure records that a request failed for a reason that is not a shortage.
func (e *execution) recordFailure(act action.Action, err error, began time.Time) attempt {
	last := e.lastFailure(act)
	last.action, last.generation, last.version = act, e.set.Generation, plan.TargetOf(act).ResourceVersion
	last = last.again(err, began, e.term.config.Clock.Now())
	e.failed[plan.RequestKey(act)] = last
	return last
}

// toRemember is what the next execution must know about this one, and about earlier failures of
// requests that this one did not reach.
func (e *execution) toRemember() failures {
	kept := failures{attempts: e.failed, paces: map[string]pace{}}
	now := e.term.config.Clock.Now()
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
