// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

// handover moves clients to other replicas while this one is shutting down and
// still serves.
//
// A kube-apiserver sends all requests for our group through one HTTP/2 connection,
// which stays with this replica however often the Service's endpoints change. It
// gives the connection up when it is told to (GOAWAY). But a request that it sends
// at that very moment is lost, and if it has a body, neither kube-apiserver nor its
// client sends it again: the user sees an error.
//
// So the first request that arrives on a connection after the begin is not answered
// until hold is over, nor is any that follows it. Clients that wait for an answer
// before they ask again have become silent by then. Only then is the connection
// given up, by the answers to these requests, and the next ones take a new
// connection, which leads to another replica.
type handover struct {
	next  http.Handler
	begun <-chan struct{} // closed when it begins
	hold  time.Duration

	mu sync.Mutex
	// released has for each connection when its requests are answered, by the
	// address of the client. It grows by connections of the last seconds of a process.
	released map[string]time.Time
}

// longestHold is how long a request is held at most. The handover begins when three
// quarters of the time are over for which a server that is told to end serves on: by
// then new connections lead to other replicas. It holds requests for a twentieth of
// that time.
const longestHold = 500 * time.Millisecond

// handOverClients makes a server hand over its clients, if it has time for that.
func (c *Config) handOverClients() {
	delay, build := c.Generic.ShutdownDelayDuration, c.Generic.BuildHandlerChainFunc
	if delay <= 0 {
		return
	}
	c.Generic.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
		begun := make(chan struct{})
		go func() {
			<-generic.ShutdownInitiatedNotify()
			time.AfterFunc(delay*3/4, func() { close(begun) })
		}()
		return newHandover(build(handler, generic), begun, min(delay/20, longestHold))
	}
}

func newHandover(next http.Handler, begun <-chan struct{}, hold time.Duration) *handover {
	return &handover{next: next, begun: begun, hold: hold, released: map[string]time.Time{}}
}

func (h *handover) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-h.begun:
		select {
		case <-time.After(h.heldFor(r.RemoteAddr)):
		case <-r.Context().Done():
		}
		w.Header().Set("Connection", "close") // over HTTP/2 it becomes a GOAWAY
	default:
	}
	h.next.ServeHTTP(w, r)
}

// heldFor is how long a request of a connection is held from now on, which the first
// of them decides. It is not positive when that is over.
func (h *handover) heldFor(connection string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.released[connection]; !ok {
		h.released[connection] = time.Now().Add(h.hold)
	}
	return time.Until(h.released[connection])
}
