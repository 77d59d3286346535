// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// host answers requests one window after the other, as long as the window is then.
type host struct {
	window *Window
	now    time.Time
}

func newHost(least, size, most int) *host {
	return &host{New(least, size, most), time.Unix(1000, 0)}
}

// answers is one window full of answers, all at the same time.
func (h *host) answers(took time.Duration, err error) {
	began, size := h.now.Add(time.Millisecond), h.window.Size()
	h.now = began.Add(took)
	for range size {
		h.window.Record(Answer{Began: began, Ended: h.now, Err: err, Full: true})
	}
}

func TestTheWindowFollowsTheHost(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("policy"))
	for sentence, test := range map[string]struct {
		host func(*host)
		want int
	}{
		"it doubles while answers are fast":       {func(h *host) { h.answers(5*time.Millisecond, nil); h.answers(5*time.Millisecond, nil) }, 64},
		"it grows no further than it may":         {func(h *host) { repeat(20, func() { h.answers(time.Millisecond, nil) }) }, 256},
		"a refusal is an answer like another":     {func(h *host) { h.answers(5*time.Millisecond, forbidden) }, 32},
		"it halves once for a window full of 429": {func(h *host) { h.answers(5*time.Millisecond, apierrors.NewTooManyRequests("busy", 1)) }, 8},
		"it halves when the host is unavailable": {
			func(h *host) { h.answers(5*time.Millisecond, apierrors.NewServiceUnavailable("starting")) }, 8},
		"it halves when the host does not answer": {func(h *host) { h.answers(30*time.Second, context.DeadlineExceeded) }, 8},
		"it halves when the host says 504":        {func(h *host) { h.answers(time.Second, apierrors.NewTimeoutError("slow", 1)) }, 8},
		"it shrinks no further than it may": {func(h *host) {
			repeat(20, func() { h.answers(time.Millisecond, apierrors.NewTooManyRequests("busy", 1)) })
		}, 4},
		"it halves when answers have become slow": {
			func(h *host) { h.answers(5*time.Millisecond, nil); h.answers(600*time.Millisecond, nil) }, 16},
		"it stays when answers are neither fast nor not": {
			func(h *host) { h.answers(5*time.Millisecond, nil); h.answers(200*time.Millisecond, nil) }, 32},
		"after it was halved it grows by a quarter": {func(h *host) {
			h.answers(5*time.Millisecond, apierrors.NewTooManyRequests("busy", 1))
			h.answers(5*time.Millisecond, nil)
		}, 10},
		"a host that always takes long, for its webhooks, is not slow": {
			func(h *host) { repeat(3, func() { h.answers(700*time.Millisecond, nil) }) }, 128},
		"what takes longer than the patience says nothing": {func(h *host) { repeat(3, func() { h.answers(10*time.Second, nil) }) }, 16},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := newHost(4, 16, 256)
			test.host(h)
			if got := h.window.Size(); got != test.want {
				t.Errorf("got a window of %d, want %d", got, test.want)
			}
		})
	}
}

func repeat(n int, do func()) {
	for range n {
		do()
	}
}

func TestAWindowThatIsNotUsedUpDoesNotGrow(t *testing.T) {
	w, now := New(4, 16, 256), time.Unix(1000, 0)
	for i := range 100 {
		w.Record(Answer{Began: now, Ended: now.Add(time.Millisecond), Full: i%4 == 0})
	}
	if got := w.Size(); got != 16 {
		t.Errorf("got a window of %d, want 16 as before", got)
	}
}

func TestAFewSlowAnswersAmongFastOnesSayNothingOfTheHost(t *testing.T) {
	w, now := New(4, 16, 256), time.Unix(1000, 0)
	for i := range 160 {
		took := 5 * time.Millisecond
		if i%3 == 0 { // those of a set behind a webhook that hangs
			took = 10 * time.Second
		}
		w.Record(Answer{Began: now, Ended: now.Add(took), Full: true})
	}
	if got := w.Size(); got < 64 {
		t.Errorf("got a window of %d, want it to have grown beyond 64", got)
	}
}

func TestWhatWasSentBeforeTheCutIsNotHeldAgainstTheNewWindow(t *testing.T) {
	w, now := New(4, 64, 256), time.Unix(1000, 0)
	busy := apierrors.NewTooManyRequests("busy", 1)
	for i := range 64 {
		w.Record(Answer{Began: now, Ended: now.Add(time.Duration(i+1) * time.Millisecond), Err: busy, Full: true})
	}
	if got := w.Size(); got != 32 {
		t.Errorf("got a window of %d, want 32: one halving for what was sent together", got)
	}
}
