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

var errNotAsked = errors.New("the host cluster has not been asked yet")

const (
	// checkTimeout bounds a question to the host about how it is.
	checkTimeout = 3 * time.Second
	// checkInterval is how often a host that answers is asked.
	checkInterval = 2 * time.Second
	// One that does not answer is asked ever more rarely.
	shortestPause = time.Second
	longestPause  = 5 * time.Second
)

// Watch asks the host how it is, and remembers the answer. Who asks this server is
// anonymous, does so as often as it likes, and is told what is remembered.
type Watch struct {
	ask func(context.Context) error

	mu   sync.Mutex
	last error // why the host cannot be used, nil if it can
}

// NewWatch prepares to ask regularly.
func NewWatch(ask func(context.Context) error) *Watch {
	return &Watch{ask: ask, last: errNotAsked}
}

// check is the last answer. It costs nothing.
func (w *Watch) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// run asks until ctx ends. What has changed is in the log, because only there it can be
// read while the host does not say who may read it elsewhere.
func (w *Watch) run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	var told logthrottle.Throttle
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
		case err != nil && told.IsDue(err, time.Now()):
			logger.Error(err, "Not ready: the host cluster cannot be used")
		case err == nil && failed:
			logger.Info("The host cluster can be used again")
			told = logthrottle.Throttle{}
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

// AddTo makes a server unready while the host cannot be reached: it could
// permit nothing to anybody. It stays alive: a restart would not help, and what is
// cached is still served.
func (w *Watch) AddTo(server *genericapiserver.GenericAPIServer) error {
	if err := server.AddReadyzChecks(healthz.NamedCheck("host", func(*http.Request) error { return w.check() })); err != nil {
		return fmt.Errorf("adding the check of the host: %w", err)
	}
	return server.AddPostStartHook("watch-host", func(hook genericapiserver.PostStartHookContext) error {
		go w.run(hook)
		return nil
	})
}
