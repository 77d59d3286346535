// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// The delay before something that failed is tried again grows from the shortest
// to the longest by a factor of two.
const (
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = 5 * time.Minute
)

// retries remembers for each set which actions have failed and when each may be
// tried again. Between, the set goes on being synced, because other things happen
// to it; but an event is no reason to ask the host again for what it has just
// refused.
type retries struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]map[string]attempt
}

// attempt is the last try of an action that failed.
type attempt struct {
	err   error
	delay time.Duration
	until time.Time
}

func newRetries() *retries {
	return &retries{sets: map[cache.ObjectName]map[string]attempt{}}
}

// of returns the failed attempts of a set by what they tried. They must not be
// changed.
func (r *retries) of(key cache.ObjectName) map[string]attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sets[key]
}

// replace notes all attempts that failed in the last sync of a set; an action that
// was not among them begins anew.
func (r *retries) replace(key cache.ObjectName, attempts map[string]attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(attempts) == 0 {
		delete(r.sets, key)
		return
	}
	r.sets[key] = attempts
}

// again is the attempt that follows a failure.
func (a attempt) again(err error, now time.Time) attempt {
	delay := min(max(2*a.delay, shortestBackoff), longestBackoff)
	return attempt{err: err, delay: delay, until: now.Add(delay)}
}
