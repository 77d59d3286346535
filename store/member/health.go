// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	healthTimeout   = 3 * time.Second
	shutdownTimeout = time.Second
)

// health is the state that probes report.
type health struct {
	peers peers

	mu       sync.Mutex
	reason   error  // why the member does not run
	endpoint string // of the etcd that runs
	member   uint64
}

// waits records why nothing is running.
func (h *health) waits(reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reason, h.endpoint = reason, ""
}

// runs records that etcd is running, and where.
func (h *health) runs(endpoint string, member uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reason, h.endpoint, h.member = nil, endpoint, member
}

// check returns why the member is not ready, nil if it is: a read must go through a majority.
func (h *health) check(ctx context.Context) error {
	h.mu.Lock()
	reason, endpoint := h.reason, h.endpoint
	h.mu.Unlock()
	if reason != nil {
		return reason
	}
	return h.peers.with(ctx, endpoint, func(ctx context.Context, client *clientv3.Client) error {
		// A member that does not vote yet refuses this.
		if _, err := client.Get(ctx, "health"); err != nil {
			return fmt.Errorf("reading through a majority of the members: %w", err)
		}
		return nil
	})
}

// serve answers probes until ctx ends.
func (h *health) serve(ctx context.Context, address string, port int) (err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listening for probes on --listen-address and --health-port: %w", err)
	}
	router := chi.NewRouter()
	router.Get("/livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	router.Get("/readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := h.check(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	server := &http.Server{Handler: router, ReadHeaderTimeout: healthTimeout}
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		_ = server.Shutdown(ending) // the rest ends with the process
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("answering probes: %w", err)
	}
	return nil
}
