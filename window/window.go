// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package window finds out how many requests a host can be given at a time.
package window

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// goodAnswer is how long a good answer takes at most, whatever the host took at its
	// fastest, and slowAnswer how long a slow one takes at least. A mutating request may
	// take a second by the objectives of Kubernetes; a window that has grown to half of
	// that leaves others no room.
	goodAnswer = 50 * time.Millisecond
	slowAnswer = 500 * time.Millisecond
	// goodTimes and slowTimes are the same in multiples of the fastest answer of late: a
	// host with webhooks on its way is not slow because of them.
	goodTimes = 4
	slowTimes = 16
	// Patience is how long a request counts as one that the host works on. One that takes
	// longer most likely waits for somebody else, such as a webhook, and says nothing about
	// the host unless it is refused for that reason.
	Patience = time.Second
	// lately is how long a fastest answer counts.
	lately = 30 * time.Second
)

// Window is how many requests may be under way. It grows while it is used and answers
// come fast: it doubles until the host has been too slow once, and grows by a quarter from
// then on. It halves when the host says that it is too much (429, 503, 504, or no answer in
// time), or when most answers are slow.
//
// Answers are judged together, as many as the window is large. Those to requests that were
// sent before the window was halved say nothing of it as it is now.
type Window struct {
	mu          sync.Mutex
	size        int
	least, most int
	// cut is when the window was halved last, zero if it never was.
	cut time.Time
	// answers, good, slow and used count what came since the window was changed last.
	answers, good, slow, used int

	fastest, before time.Duration
	since           time.Time
}

// New returns a window of a size that stays between least and most.
func New(least, size, most int) *Window {
	return &Window{size: size, least: least, most: most}
}

// Size is how many requests may be under way.
func (w *Window) Size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size
}

// Answer is what came of a request.
type Answer struct {
	Began, Ended time.Time
	Err          error
	// Full is true if no more requests were allowed while it was under way. A window that
	// is not used up does not grow.
	Full bool
}

// Note learns from an answer.
func (w *Window) Note(a Answer) {
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

// remember keeps the fastest answer of the present interval and of the one before.
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

// tooMuch reports whether an error says that the host is asked for more than it can do.
func tooMuch(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || errors.Is(err, context.DeadlineExceeded)
}
