// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

// The delay before something that failed is tried again grows from the shortest
// to the longest by a factor of two.
const (
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = 5 * time.Minute
)

// retries remembers for each set which actions have failed and when each may be
// tried again, and how fast actions are begun. Between, the set goes on being synced,
// because other things happen to it; but an event is no reason to ask the host again
// for what it has just refused.
type retries struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]failures
}

// failures are the failed attempts of one set by what they tried, and the paces by
// kind of action. They count for this set only and not for a later one of its name.
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

func newRetries() *retries {
	return &retries{sets: map[cache.ObjectName]failures{}}
}

// of returns what has failed for a set. It must not be changed.
func (r *retries) of(set *v1.StatefulSet) failures {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.sets[cache.MetaObjectToName(set)]; known.set == set.UID {
		return known
	}
	return failures{}
}

// replace notes what failed in the last sync of a set; an action that was not among it
// begins anew.
func (r *retries) replace(set *v1.StatefulSet, failed failures) {
	if len(failed.attempts) == 0 && len(failed.paces) == 0 {
		r.forget(cache.MetaObjectToName(set))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	failed.set = set.UID
	r.sets[cache.MetaObjectToName(set)] = failed
}

// withoutRoom are the sets of a namespace that wait for room in a quota.
func (r *retries) withoutRoom(namespace string) []cache.ObjectName {
	r.mu.Lock()
	defer r.mu.Unlock()
	var keys []cache.ObjectName
	for key, known := range r.sets {
		for _, p := range known.paces {
			if key.Namespace == namespace && isQuota(p.err) {
				keys = append(keys, key)
				break
			}
		}
	}
	return keys
}

func (r *retries) forget(key cache.ObjectName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sets, key)
}

// again is the attempt that follows a failure. A namespace that is going away does
// not come back.
func (a attempt) again(err error, began, now time.Time) attempt {
	first := shortestBackoff
	if isShortage(err) {
		first = shortageBackoff
	}
	delay := min(max(2*a.delay, first), longestBackoff)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		delay = longestBackoff
	}
	return attempt{err: err, began: began, at: now, delay: delay, until: now.Add(delay)}
}
