// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Controller brings the host cluster to the state that the sets describe.
type Controller struct {
	config     Config
	gauges     *gauges
	readyGauge readyGauge

	mu      sync.Mutex
	running bool
	term    *term
}

// New checks the configuration and builds a controller. It starts nothing.
func New(config Config) (*Controller, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	gauges, err := newGauges(config.RegisterMetric)
	if err != nil {
		return nil, err
	}
	ready, err := newReadyGauge(config.RegisterMetric)
	if err != nil {
		return nil, err
	}
	return &Controller{config: config, gauges: gauges, readyGauge: ready}, nil
}

// Run controls the sets, or waits to be elected, until the context ends. It returns when everything
// that it started has stopped: no write is running, and the lease is released. It may be called
// once.
func (c *Controller) Run(ctx context.Context) error {
	c.setRunning(true)
	defer c.setRunning(false)
	if !c.config.LeaderElect {
		c.serve(ctx, func() error { return nil })
		return nil
	}
	for ctx.Err() == nil {
		if err := c.contend(ctx); err != nil {
			return err
		}
	}
	return nil
}

// contend takes part in one election: it waits for the lease, serves a term, and returns when the
// term or the context has ended.
//
// The elector runs under a separate context. It releases the lease as soon as that context ends,
// which must not happen before the term's last write.
func (c *Controller) contend(ctx context.Context) error {
	elected, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	serving := make(baton, 1)
	stop := context.AfterFunc(ctx, func() {
		serving.take()
		defer serving.give()
		release()
	})
	defer stop()

	lock := c.newLease()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		Name:            c.config.LeaseName,
		LeaseDuration:   c.config.LeaseDuration,
		RenewDeadline:   c.config.RenewDeadline,
		RetryPeriod:     c.config.RetryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				serving.take()
				defer serving.give()
				leading, cancel := context.WithCancel(leading)
				defer cancel()
				defer context.AfterFunc(ctx, cancel)()
				c.serve(leading, lock.check)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("setting up leader election: %w", err)
	}
	elector.Run(elected)
	serving.take()
	defer serving.give()
	return nil
}

// baton is held by one goroutine at a time. It is not a mutex, because a goroutine holds it during
// a whole term, and simulated time passes only while all goroutines wait for channels.
type baton chan struct{}

func (b baton) take() { b <- struct{}{} }
func (b baton) give() { <-b }

func (c *Controller) newLease() *lease {
	return newLease(&resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: c.config.LeaseNamespace, Name: c.config.LeaseName},
		Client:     c.config.Host.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: c.config.Identity},
	}, c.config.Options, c.config.Clock)
}

// serve serves a term until the context ends.
func (c *Controller) serve(ctx context.Context, checkLease func() error) {
	if ctx.Err() != nil {
		return
	}
	term := newTerm(c.config, watchedKinds(c.config.Host, c.config.Sets), c.gauges, checkLease)
	c.setTerm(term)
	defer c.setTerm(nil)
	term.run(ctx)
}

// Leading reports whether this replica is the leader. A replica that was stopped until after its
// lease expired is not the leader, even before it notices.
func (c *Controller) Leading() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.term != nil && c.term.checkLease() == nil
}

// Ready returns nil if the controller works: a leader has filled its caches, and any other replica
// waits for the lease. Otherwise the error says what is missing.
func (c *Controller) Ready() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.running:
		return errors.New("the controller is not running")
	case c.term != nil:
		return c.term.ready()
	default:
		return nil
	}
}

func (c *Controller) setRunning(running bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = running
}

func (c *Controller) setTerm(term *term) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.term = term
}
