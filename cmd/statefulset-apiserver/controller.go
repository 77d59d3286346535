// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/clock"

	"statefulset.dev/apiserver"
	"statefulset.dev/controller"
	"statefulset.dev/controller/objects"
)

// colocated is the controller that runs in the process of the server. It can be built only when the
// server serves, because it reads its sets from the server.
type colocated struct {
	options controller.Options
	copies  copies
	running atomic.Pointer[controller.Controller]
}

func (c *colocated) forServer() apiserver.Controller {
	return apiserver.Controller{Run: c.run, Planner: c.planner, Ready: c.ready, State: c.state}
}

// planner answers requests for plans, whether this replica leads or not.
func (c *colocated) planner(host *rest.Config) (apiserver.Planner, error) {
	return controller.NewPreview(host, c.copies.server.ObjectNamespaces)
}

func (c *colocated) run(ctx context.Context, access apiserver.Access) error {
	config, err := c.config(access)
	if err != nil {
		return err
	}
	built, err := controller.New(config)
	if err != nil {
		return err
	}
	c.running.Store(built)
	ctx, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	beside.Go(func() { built.ReportReadiness(ctx) })
	beside.Go(func() { c.copies.run(ctx, access.Host, built.Leading) })
	return built.Run(ctx)
}

// config returns the configuration of the controller.
func (c *colocated) config(access apiserver.Access) (controller.Config, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return controller.Config{}, fmt.Errorf("reading the name of this machine: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return controller.Config{}, fmt.Errorf("finding the program of this process: %w", err)
	}
	config := controller.Config{
		Options:        c.options,
		RegisterMetric: legacyregistry.Register,
		Identity:       hostname + "_" + string(uuid.NewUUID()),
		WaitDurable:    access.Covered,
		Trial:          controller.NewTrial(program),
		Tracer:         access.Tracing.Tracer("statefulset.dev/controller"),
		HostTime:       controller.NewHostTime(clock.RealClock{}),

		ObjectNamespaces: c.copies.server.ObjectNamespaces,
	}
	access.Host.Wrap(controller.TraceRequests(access.Tracing))
	access.Host.Wrap(config.HostTime.Observe)
	if config.Host, err = controller.NewHostClient(access.Host); err != nil {
		return controller.Config{}, err
	}
	if config.Objects, err = objects.NewClients(access.Host); err != nil {
		return controller.Config{}, err
	}
	config.Sets, err = controller.NewSetsClient(access.Loopback)
	return config, err
}

func (c *colocated) ready() error {
	running := c.running.Load()
	if running == nil {
		return errors.New("the controller is starting")
	}
	return running.Ready()
}

func (c *colocated) state() apiserver.ControllerState {
	var state apiserver.ControllerState
	if running := c.running.Load(); running != nil {
		state.Leading = running.Leading()
	}
	if err := c.ready(); err != nil {
		state.NotReady = err.Error()
	}
	return state
}
