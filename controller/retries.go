// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/plan"
)

// The delay before something that failed is tried again grows from the shortest
// to the longest by a factor of two.
const (
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = 5 * time.Minute
)

// A pod that may not be evicted is tried again after a delay from the shortest to the longest: the
// budgets of a namespace hardly change faster, and it may be a person who waits.
const (
	shortestEvictionBackoff = 10 * time.Second
	longestEvictionBackoff  = time.Minute
)

// failures are the actions of a set that have failed, with when each may be tried again,
// and how fast actions are begun, by their kind. Between, the set goes on being synced,
// because other things happen to it; but an event is no reason to ask the host again
// for what it has just refused. They count for this set only and not for a later one of
// its name.
type failures struct {
	set      types.UID
	attempts map[string]attempt
	paces    map[string]pace
}

// attempt is the last try of an action that failed.
type attempt struct {
	err error
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
// it begins anew.
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

// waitsForRoom reports whether the set waits for room in a quota.
func (m *memo) waitsForRoom() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.failures.paces {
		if isQuota(p.err) {
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
		first, longest = shortestEvictionBackoff, longestEvictionBackoff
	case isShortage(err):
		first = shortageBackoff
	}
	delay := min(max(2*a.delay, first), longest)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		delay = longestBackoff
	}
	return attempt{err: err, began: began, at: now, delay: delay, until: now.Add(delay)}
}
