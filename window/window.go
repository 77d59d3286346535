// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package window determines how many requests may be sent to a host cluster at the same time.
package window

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// An answer within goodAnswer is always good, and one faster than slowAnswer is never slow,
	// however fast the fastest answer was. By its service level objectives, Kubernetes may take a
	// second for a mutating request. A window that causes half of that leaves no room for other
	// clients.
	goodAnswer = 50 * time.Millisecond
	slowAnswer = 500 * time.Millisecond
	// goodTimes and slowTimes are the same limits as multiples of the fastest recent answer, which
	// apply if they are longer. So a host cluster with webhooks in its path does not count as slow
	// because of them.
	goodTimes = 4
	slowTimes = 16
	// Patience is the longest time of an answer that says something about the host cluster. A
	// longer request most likely waited for another component, such as a webhook, and is ignored
	// unless it fails with an error of tooMuch.
	Patience = time.Second
	// lately is the time for which a fastest answer counts.
	lately = 30 * time.Second
)

// Window is the maximum number of requests in progress. It grows while all of it is used and
// answers are fast: it doubles until the host cluster is too slow for the first time, and then
// grows by a quarter. It halves when the host cluster reports overload (429, 503, 504, or no answer
// in time), or when most answers are slow.
//
// Answers are evaluated in groups as large as the window. Answers to requests that were sent before
// the window was halved are ignored, because they do not show the effect.
type Window struct {
	mu          sync.Mutex
	size        int
	least, most int
	// cut is the last time at which the window was halved. It is zero if it never was.
	cut time.Time
	// answers, good, slow and used count the answers since the last change of the window.
	answers, good, slow, used int

	fastest, before time.Duration
	since           time.Time
}

// New returns a window of a size that stays between least and most.
func New(least, size, most int) *Window {
	return &Window{size: size, least: least, most: most}
}

// Size is the maximum number of requests in progress.
func (w *Window) Size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size
}

// Answer is the result of a request.
type Answer struct {
	Began, Ended time.Time
	Err          error
	// Full is true if no more requests were allowed while this one was in progress. A window that is
	// not full does not grow.
	Full bool
}

// Record records an answer, and may resize the window.
func (w *Window) Record(a Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !a.Began.After(w.cut) && !w.cut.IsZero() {
		return
	}
	if tooMuch(a.Err) {
		w.halve(a.Ended)
		return
	}
	took := a.Ended.Sub(a.Began)
	if took >= Patience {
		return
	}
	w.remember(took, a.Ended)
	w.answers++
	switch fastest := min(w.fastest, w.before); {
	case took <= max(goodAnswer, goodTimes*fastest):
		w.good++
	case took >= max(slowAnswer, slowTimes*fastest):
		w.slow++
	}
	if a.Full {
		w.used++
	}
	if w.answers >= w.size {
		w.judge(a.Ended)
	}
}

func (w *Window) judge(now time.Time) {
	switch {
	case 2*w.slow > w.answers:
		w.halve(now)
	case 2*w.good > w.answers && 2*w.used > w.answers && w.cut.IsZero():
		w.resize(2 * w.size)
	case 2*w.good > w.answers && 2*w.used > w.answers:
		w.resize(w.size + max(w.size/4, 1))
	default:
		w.resize(w.size)
	}
}

func (w *Window) halve(now time.Time) {
	w.cut = now
	w.resize(w.size / 2)
}

func (w *Window) resize(size int) {
	w.size = min(max(size, w.least), w.most)
	w.answers, w.good, w.slow, w.used = 0, 0, 0, 0
}

// remember records the fastest answer of the current interval, and of the interval before.
func (w *Window) remember(took time.Duration, now time.Time) {
	if now.Sub(w.since) >= lately {
		w.before = w.fastest
		if now.Sub(w.since) >= 2*lately || w.before == 0 {
			w.before = took
		}
		w.fastest, w.since = took, now
	}
	w.fastest = min(w.fastest, took)
}

// tooMuch reports whether an error shows that the host cluster is overloaded.
func tooMuch(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || errors.Is(err, context.DeadlineExceeded)
}
