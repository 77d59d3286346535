// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// HostTime is the time of the host cluster, as its responses report it. One replica writes dates
// that another one reads, whose clock may differ by any amount. Both compare them with dates that
// the cluster has written. So the planner uses only the cluster's time.
//
// An HTTP response has its time in the Date header, in whole seconds. So the offset of this
// process's clock lies between two bounds, and each response narrows them. If the offset may be
// zero, the clock is used unchanged.
type HostTime struct {
	clock clock.PassiveClock
	// elapsed is the time since this was created. It does not change when the clock is set.
	elapsed func() time.Duration

	mu sync.Mutex
	// least and most are bounds of the cluster's time at that moment. They are valid if known is
	// true.
	least, most time.Time
	known       bool
}

// NewHostTime returns a time that is not known yet, and is that of the clock until then. Its
// Observe must wrap the transport to the cluster.
func NewHostTime(by clock.PassiveClock) *HostTime {
	began := time.Now()
	return &HostTime{clock: by, elapsed: func() time.Duration { return time.Since(began) }}
}

// Observe reads the time in all responses of the cluster.
func (h *HostTime) Observe(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		sent := h.elapsed()
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode < http.StatusInternalServerError { // a proxy may have sent a 5xx
			h.answered(sent, h.elapsed(), response.Header.Get("Date"))
		}
		return response, err
	})
}

// roundTrip makes a function a RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// answered records the time in the response to a request. If it contradicts earlier ones, the
// cluster's clock was set, or this process was suspended, and only the new response counts.
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

// Now is the current time of the cluster: that of this process's clock if it may be right,
// otherwise the nearest bound.
func (h *HostTime) Now() time.Time {
	now, _ := h.currentTime()
	return now
}

// Since is how long ago a time was in the cluster.
func (h *HostTime) Since(from time.Time) time.Duration { return h.Now().Sub(from) }

// currentTime is the current time of the cluster, and false if it is not known.
func (h *HostTime) currentTime() (time.Time, bool) {
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

// currentHostTime is the current time of the cluster, and false if it is not known.
func (c *Config) currentHostTime() (now time.Time, known bool) {
	if c.HostTime == nil {
		return c.Clock.Now(), true
	}
	return c.HostTime.currentTime()
}

// hostNow is the current time of the cluster, or of this process's clock if the cluster's is not
// known.
func (c *Config) hostNow() time.Time {
	now, _ := c.currentHostTime()
	return now
}
