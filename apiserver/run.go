// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Controller is what the server runs beside itself. Each function may be nil.
type Controller struct {
	// Run is called once the server serves. host leads to the host cluster,
	// loopback to this server. It must run until ctx ends.
	Run func(ctx context.Context, host, loopback *rest.Config) error
	// Ready says why the controller cannot do its work, nil if it can.
	Ready func() error
	// State says what the controller is doing.
	State func() ControllerState
}

// Run serves with the given, completed and valid options until ctx ends.
func Run(ctx context.Context, o *Options, controller Controller) (err error) {
	config := NewConfig()
	if err := o.applyServing(config); err != nil {
		return err
	}
	host, err := newHost(o.Host.CoreAPIKubeconfigPath)
	if err != nil {
		return err
	}
	if err := host.wait(ctx, o.HostTimeout); err != nil {
		return err
	}

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	closeStorage, err := o.openStorage(ctx, fail)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStorage()) }()

	if err := config.applyStorage(o.Etcd); err != nil {
		return err
	}
	if err := o.applyHost(config, host); err != nil {
		return err
	}
	if err := o.applyPreflight(config, host); err != nil {
		return err
	}
	config.addController(controller, host)
	server, err := config.Complete().New()
	if err != nil {
		return err
	}
	return errors.Join(server.Run(ctx), failure(ctx))
}

// failure is why a part of the server ended it, nil if it was asked to end.
func failure(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// addController gives the controller its way to the host.
func (c *Config) addController(controller Controller, host *host) {
	if controller.Run != nil {
		c.RunController = func(ctx context.Context, loopback *rest.Config) error {
			return controller.Run(ctx, rest.CopyConfig(host.config), loopback)
		}
	}
	c.ControllerReady, c.ControllerState = controller.Ready, controller.State
}

// openStorage starts the embedded etcd, unless there is an external one, and
// points the options at it. When etcd ends by itself, fail is told.
func (o *Options) openStorage(ctx context.Context, fail context.CancelCauseFunc) (func() error, error) {
	if !o.embedsEtcd() {
		return func() error { return nil }, nil
	}
	path := o.DataDir
	if path == "" {
		path = defaultDataDir
	}
	etcd, err := startEmbeddedEtcd(ctx, path)
	if err != nil {
		return nil, err
	}
	o.Etcd.StorageConfig.Transport.ServerList = []string{etcd.Endpoint()}
	klog.FromContext(ctx).Info("Embedded etcd is ready", "dataDir", path)
	go func() {
		if err, ok := <-etcd.Err(); ok {
			fail(fmt.Errorf("the embedded etcd ended: %w", err))
		}
	}()
	return etcd.Close, nil
}
