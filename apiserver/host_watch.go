// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"statefulset.dev/apiserver/logthrottle"
)

var errHostNotAsked = errors.New("the host cluster has not been asked yet")

const (
	// hostCheckTimeout bounds a question to the host about how it is.
	hostCheckTimeout = 3 * time.Second
	// hostCheckInterval is how often a host that answers is asked.
	hostCheckInterval = 2 * time.Second
	// One that does not answer is asked ever more rarely.
	shortestHostPause = time.Second
	longestHostPause  = 5 * time.Second
)

// hostWatch asks the host how it is, and remembers the answer. Who asks this server is
// anonymous, does so as often as it likes, and is told what is remembered.
type hostWatch struct {
	ask func(context.Context) error

	mu   sync.Mutex
	last error // why the host cannot be used, nil if it can
}

func newHostWatch(ask func(context.Context) error) *hostWatch {
	return &hostWatch{ask: ask, last: errHostNotAsked}
}

// check is the last answer. It costs nothing.
func (w *hostWatch) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// run asks until ctx ends. What has changed is in the log, because only there it can be
// read while the host does not say who may read it elsewhere.
func (w *hostWatch) run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	var told logthrottle.Throttle
	failed := false
	for pause := shortestHostPause; ; {
		err := w.askOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		after := hostCheckInterval
		if err != nil {
			after, pause = pause, min(2*pause, longestHostPause)
		} else {
			pause = shortestHostPause
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

func (w *hostWatch) askOnce(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, hostCheckTimeout)
	defer cancel()
	err := w.ask(limited)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = err
	return err
}
