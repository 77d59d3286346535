// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/klog/v2"

	"statefulset.dev/store/logthrottle"
)

var errNotAsked = errors.New("the host cluster has not been checked yet")

const (
	// checkTimeout limits one check of the host cluster.
	checkTimeout = 3 * time.Second
	// checkInterval is the interval of checks while the host cluster is ready.
	checkInterval = 2 * time.Second
	// While it is not ready, checks become less and less frequent.
	shortestPause = time.Second
	longestPause  = 5 * time.Second
)

// Watch checks the host cluster regularly, and remembers the result. Anonymous callers can query
// the readiness of this server as often as they like, so they get the remembered result.
type Watch struct {
	ask func(context.Context) error

	mu   sync.Mutex
	last error // why the host cluster cannot be used, nil if it can
}

// NewWatch prepares to check regularly.
func NewWatch(ask func(context.Context) error) *Watch {
	return &Watch{ask: ask, last: errNotAsked}
}

// check returns the last result. It costs nothing.
func (w *Watch) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// run checks until ctx ends. It logs changes, because while the host cluster authorizes no one, the
// log is the only place where they can be read.
func (w *Watch) run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	var throttle logthrottle.Throttle
	failed := false
	for pause := shortestPause; ; {
		err := w.askOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		after := checkInterval
		if err != nil {
			after, pause = pause, min(2*pause, longestPause)
		} else {
			pause = shortestPause
		}
		switch {
		case err != nil && throttle.IsDue(err, time.Now()):
			logger.Error(err, "Not ready: the host cluster cannot be used")
		case err == nil && failed:
			logger.Info("The host cluster can be used again")
			throttle = logthrottle.Throttle{}
		}
		failed = err != nil
		select {
		case <-time.After(after):
		case <-ctx.Done():
			return
		}
	}
}

func (w *Watch) askOnce(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := w.ask(limited)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = err
	return err
}

// AddTo makes a server unready while the host cluster cannot be reached, because then the server
// cannot authorize any request. The server stays alive: a restart would not help, and cached
// decisions still allow requests.
func (w *Watch) AddTo(server *genericapiserver.GenericAPIServer) error {
	if err := server.AddReadyzChecks(healthz.NamedCheck("host", func(*http.Request) error { return w.check() })); err != nil {
		return fmt.Errorf("adding the check of the host cluster: %w", err)
	}
	return server.AddPostStartHook("watch-host", func(hook genericapiserver.PostStartHookContext) error {
		go w.run(hook)
		return nil
	})
}
