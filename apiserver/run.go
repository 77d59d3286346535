// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver/certificates"
	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/registry/statefulset"
)

// Controller is what the server runs in addition to itself. Each function may be nil.
type Controller struct {
	// Run is called once the server serves. It must run until ctx ends.
	Run func(ctx context.Context, access Access) error
	// Planner creates the planner that answers requests for plans. host is the configuration of
	// clients of the host cluster.
	Planner func(host *rest.Config) (Planner, error)
	// Ready returns why the controller cannot do its work, nil if it can.
	Ready func() error
	// State returns what the controller is doing.
	State func() ControllerState
}

// Access is what the server provides to a controller.
type Access struct {
	// Host is the configuration of clients of the host cluster, Loopback of clients of this server.
	Host, Loopback *rest.Config
	// Covered returns when the host cluster has recorded that the store of this server has reached
	// a resource version. If it returns no error, a store without that version will not be served
	// again.
	Covered func(ctx context.Context, resourceVersion string) error
	// Tracing creates spans as --tracing-config-file configures.
	Tracing trace.TracerProvider
}

// Planner predicts what the controller does for a set.
type Planner = statefulset.Planner

// Run serves with completed and valid options until ctx ends.
func Run(ctx context.Context, o *Options, controller Controller) (err error) {
	config := NewConfig()
	if err := o.ApplyServing(config); err != nil {
		return err
	}
	host, err := hostcluster.Connect(ctx, o.Host.CoreAPIKubeconfigPath, o.HostTimeout)
	if err != nil {
		return err
	}

	if err := o.applyAutoTLS(config, host); err != nil {
		return err
	}

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if err := o.Storage.ReceiveTLS(ctx, host.Client.CoreV1().Secrets(o.NoteNamespace), o.NoteNamespace); err != nil {
		return err
	}
	closeStorage, err := o.Storage.Open(ctx, fail)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStorage()) }()

	if err := config.ApplyStorage(o.Storage); err != nil {
		return err
	}
	if err := o.applyHost(ctx, config, host); err != nil {
		return err
	}
	certificates.HoldUntilClientCAs(ctx, config.Generic.SecureServing, host.Client, o.Authentication)
	if config.Preflight, err = o.Preflight.Build(host.Config, host.ResourcesOf); err != nil {
		return err
	}
	closeGuard, err := o.applyGuard(ctx, config, host, fail)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeGuard()) }()
	closeRoom, err := o.applySpace(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRoom()) }()
	if err := config.addController(controller, host); err != nil {
		return err
	}
	server, err := config.Complete().New()
	if err != nil {
		return err
	}
	return errors.Join(server.Run(ctx), failure(ctx))
}

// failure returns why a part of the server ended it, nil if the server was asked to end.
func failure(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// addController connects the controller to the host cluster.
func (c *Config) addController(controller Controller, host *hostcluster.Host) (err error) {
	if controller.Run != nil {
		c.RunController = func(ctx context.Context, loopback *rest.Config) error {
			return c.Guard.WhileRight(ctx, func(ctx context.Context) error {
				return controller.Run(ctx, Access{
					Host: rest.CopyConfig(host.Config), Loopback: loopback,
					Covered: c.Guard.Covered, Tracing: c.Generic.TracerProvider,
				})
			})
		}
	}
	c.ControllerReady, c.ControllerState = controller.Ready, controller.State
	if controller.Planner != nil {
		c.Planner, err = controller.Planner(rest.CopyConfig(host.Config))
	}
	return err
}
