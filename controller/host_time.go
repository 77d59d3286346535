// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// HostTime is the time of the host cluster, as its answers tell it. Dates that one replica writes are
// read by another, whose own clock may differ by any amount, and next to dates that the cluster has
// written. So the planner uses the cluster's time only.
//
// An HTTP answer has its time in the Date header, in whole seconds. So the offset of the own clock is
// known to lie between two bounds, which each answer draws closer. A clock that is right has an offset
// of zero, and is not touched.
type HostTime struct {
	clock clock.PassiveClock
	// elapsed is how long ago this began. It does not change when the clock is set.
	elapsed func() time.Duration

	mu sync.Mutex
	// least and most are what the host's time was then, at least and at most. They count if known is true.
	least, most time.Time
	known       bool
}

// NewHostTime returns a time that is not known yet, and until then that of the clock. Its Observe has to wrap
// the transport to the host.
func NewHostTime(by clock.PassiveClock) *HostTime {
	began := time.Now()
	return &HostTime{clock: by, elapsed: func() time.Duration { return time.Since(began) }}
}

// Observe reads the time in all answers of the host.
func (h *HostTime) Observe(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		sent := h.elapsed()
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode < http.StatusInternalServerError { // which may be that of a proxy
			h.answered(sent, h.elapsed(), response.Header.Get("Date"))
		}
		return response, err
	})
}

// roundTrip is a function as a RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// answered notes the time in an answer to a request. If that contradicts earlier ones, the clock of the host
// was set, or this process stood still, and the answer alone counts.
func (h *HostTime) answered(sent, received time.Duration, date string) {
	at, err := http.ParseTime(date)
	if err != nil {
		return
	}
	least, most := at.Add(-received), at.Add(time.Second-sent)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known && !h.most.Before(least) && !most.Before(h.least) {
		least, most = latest(h.least, least), earliest(h.most, most)
	}
	h.least, h.most, h.known = least, most, true
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Now is the host's present time: that of the own clock if that may be right, and else the bound that is
// nearest to it.
func (h *HostTime) Now() time.Time {
	now, _ := h.now()
	return now
}

// Since is how long ago a time was in the host.
func (h *HostTime) Since(from time.Time) time.Duration { return h.Now().Sub(from) }

// now is the host's present time, and false if that is not known.
func (h *HostTime) now() (time.Time, bool) {
	now := h.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.known {
		return now, false
	}
	since, wall := h.elapsed(), now.Round(0) // without the monotonic reading
	switch least, most := h.least.Add(since), h.most.Add(since); {
	case wall.Before(least):
		return least, true
	case wall.After(most):
		return most, true
	default:
		return now, true
	}
}

// hostTime is the present time of the host, and false if that is not known.
func (c *Config) hostTime() (now time.Time, known bool) {
	if c.HostTime == nil {
		return c.Clock.Now(), true
	}
	return c.HostTime.now()
}

// hostNow is the present time of the host, or that of the own clock if the host's time is not known.
func (c *Config) hostNow() time.Time {
	now, _ := c.hostTime()
	return now
}
