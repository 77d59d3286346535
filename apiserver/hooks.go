// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// controllerStopTimeout limits how long a server that shuts down waits for its controller to finish
// its current work and to release its lease.
const controllerStopTimeout = 30 * time.Second

var (
	errNotStarted = errors.New("the controller has not been started yet")
	errReturned   = errors.New("the controller ended by itself")
)

// runner ties the life of the controller to that of the server: the controller starts when the
// server serves, and the server serves until the controller has stopped.
type runner struct {
	run   func(ctx context.Context, loopback *rest.Config) error
	ready func() error // may be nil
	done  chan struct{}

	mu    sync.Mutex
	stop  context.CancelFunc
	state error // why the controller does not run; nil while it does
}

func newRunner(run func(context.Context, *rest.Config) error, ready func() error) *runner {
	return &runner{run: run, ready: ready, done: make(chan struct{}), state: errNotStarted}
}

func (r *runner) addTo(server *genericapiserver.GenericAPIServer) error {
	if err := server.AddPostStartHook("start-controller", r.start); err != nil {
		return fmt.Errorf("adding the controller's start hook: %w", err)
	}
	if err := server.AddPreShutdownHook("stop-controller", r.stopAndWait); err != nil {
		return fmt.Errorf("adding the controller's stop hook: %w", err)
	}
	return addControllerChecks(server, r)
}

// followSets follows the sets in the store while the server runs.
func followSets(server *genericapiserver.GenericAPIServer, follow func(context.Context)) error {
	err := server.AddPostStartHook("follow-sets", func(hook genericapiserver.PostStartHookContext) error {
		go follow(hook)
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding the hook that follows the sets: %w", err)
	}
	return nil
}

// start does not use the hook's context, because that ends when the server begins to shut down, and
// the stop hook must end the controller.
func (r *runner) start(hook genericapiserver.PostStartHookContext) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(hook))
	r.mu.Lock()
	r.stop, r.state = cancel, nil
	r.mu.Unlock()

	go func() {
		defer close(r.done)
		err := r.run(ctx, hook.LoopbackClientConfig)
		if ctx.Err() == nil {
			err = errors.Join(errReturned, err)
			klog.FromContext(ctx).Error(err, "The controller ended while the server is running")
		}
		r.mu.Lock()
		r.state = err
		r.mu.Unlock()
	}()
	return nil
}

func (r *runner) stopAndWait() error {
	r.mu.Lock()
	stop := r.stop
	r.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-r.done:
		return nil
	case <-time.After(controllerStopTimeout):
		return fmt.Errorf("the controller did not stop within %s", controllerStopTimeout)
	}
}

// checkRunning returns why the controller does not run, nil if it does.
func (r *runner) checkRunning() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// checkReady returns why the controller cannot do its work, nil if it can.
func (r *runner) checkReady() error {
	if err := r.checkRunning(); err != nil || r.ready == nil {
		return err
	}
	return r.ready()
}
