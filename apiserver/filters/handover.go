// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"context"
	"net/http"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

// handover moves clients to other replicas while this one is shutting down and still serves.
//
// A kube-apiserver sends all requests for this group through one HTTP/2 connection, which stays
// with this replica however often the Service's endpoints change. It closes the connection when the
// server asks for that (GOAWAY). But a request that it sends at that moment is lost. If the request
// has a body, neither kube-apiserver nor its client sends it again: the user sees an error.
//
// So the first request that arrives on a connection after the handover begins is not answered for a
// while, and neither are the requests that follow it. Clients that wait for an answer before they
// send the next request become silent meanwhile, after earlier requests have been answered and
// their clients have sent the next ones. Only then do the answers to these requests close the
// connection. The next requests use a new connection, which leads to another replica.
type handover struct {
	next  http.Handler
	begun <-chan struct{} // closed when the handover begins
	// length is how long requests are delayed.
	length time.Duration

	mu sync.Mutex
	// connections contains, by client address, the connections with pending requests and, after the
	// handover has begun, all that had any.
	connections map[string]*connection
}

// connection is the state of one connection.
type connection struct {
	// underWay is the number of its requests that came before the handover began and are not
	// answered. Watches do not count.
	underWay int
	// answered is when the last of these requests was answered, and held when the first request
	// came after the handover began.
	answered, held time.Time
}

// longestHold is how long a request is delayed at most. The handover begins after three quarters of
// the time for which a terminating server continues to serve: by then new connections lead to other
// replicas. It delays requests for a twentieth of that time, or up to three times as long if
// earlier requests are not answered yet.
const (
	longestHold  = 500 * time.Millisecond
	longestHolds = 3
)

// EnableHandover makes a server hand over its clients, if it has time for that.
func EnableHandover(config *genericapiserver.Config) {
	delay, build := config.ShutdownDelayDuration, config.BuildHandlerChainFunc
	if delay <= 0 {
		return
	}
	config.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
		begun := make(chan struct{})
		go func() {
			<-generic.ShutdownInitiatedNotify()
			time.AfterFunc(delay*3/4, func() { close(begun) })
		}()
		return newHandover(build(handler, generic), begun, min(delay/20, longestHold))
	}
}

func newHandover(next http.Handler, begun <-chan struct{}, length time.Duration) *handover {
	return &handover{next: next, begun: begun, length: length, connections: map[string]*connection{}}
}

func (h *handover) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	requests := 1
	if r.URL.Query().Has("watch") {
		requests = 0
	}
	c := h.arrive(r.RemoteAddr, requests)
	select {
	case <-h.begun:
		h.hold(c, requests)
		h.wait(r.Context(), c)
		w.Header().Set("Connection", "close") // over HTTP/2 it becomes a GOAWAY
	default:
		defer h.answer(r.RemoteAddr, c, requests)
	}
	h.next.ServeHTTP(w, r)
}

func (h *handover) arrive(address string, requests int) *connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.connections[address]
	if c == nil {
		c = &connection{}
		h.connections[address] = c
	}
	c.underWay += requests
	return c
}

func (h *handover) answer(address string, c *connection, requests int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.underWay -= requests
	if requests > 0 {
		c.answered = time.Now()
	}
	if c.underWay == 0 && c.held.IsZero() {
		delete(h.connections, address)
	}
}

// hold stops counting a request that came after the handover began, and records its time.
func (h *handover) hold(c *connection, requests int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.underWay -= requests
	if c.held.IsZero() {
		c.held = time.Now()
	}
}

// wait returns when a request may be answered, or when its client has given up.
func (h *handover) wait(ctx context.Context, c *connection) {
	for left := h.heldFor(c); left > 0; left = h.heldFor(c) {
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return
		}
	}
}

// heldFor returns how long to delay a request before heldFor is called again. The result is not
// positive if the request is no longer delayed.
func (h *handover) heldFor(c *connection) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, last := time.Now(), c.held.Add(longestHolds*h.length)
	if c.underWay > 0 {
		return min(last.Sub(now), h.length/4)
	}
	until := c.held.Add(h.length)
	if silent := c.answered.Add(h.length / 2); silent.After(until) {
		until = silent
	}
	if until.After(last) {
		until = last
	}
	return until.Sub(now)
}
