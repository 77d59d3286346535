// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"

	"statefulset.dev/apiserver/access"
	"statefulset.dev/apiserver/admission"
	"statefulset.dev/apiserver/autotls"
	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/apiserver/storage"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/dependents"
	"statefulset.dev/store/space"
)

// ApplyServing opens the port, and prepares everything that does not need the host cluster.
func (o *Options) ApplyServing(config *Config) error {
	generic := &config.Generic.Config
	if err := o.Serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return fmt.Errorf("creating a self-signed certificate: %w", err)
	}
	o.chooseAdvertisedAddress()
	if err := o.Server.ApplyTo(generic); err != nil {
		return fmt.Errorf("applying the generic options: %w", err)
	}
	port := o.Serving.BindPort // a failure resets it
	if err := o.Serving.ApplyToConfig(generic); err != nil {
		return fmt.Errorf("preparing to serve on --bind-address %s --secure-port %d: %w", o.Serving.BindAddress, port, err)
	}
	if err := o.Traces.ApplyTo(nil, generic); err != nil {
		return fmt.Errorf("applying --tracing-config-file %q: %w", o.Traces.ConfigFile, err)
	}
	generic.TracerProvider = hastyTracer{generic.TracerProvider}
	return nil
}

// applyAutoTLS replaces the certificate with which the server starts by one that the server issues
// itself.
func (o *Options) applyAutoTLS(config *Config, host *hostcluster.Host) error {
	if !o.AutoTLS.Enabled {
		return nil
	}
	objects, err := host.Dynamic()
	if err != nil {
		return err
	}
	serving := config.Generic.SecureServing
	config.Certificate = autotls.New(o.AutoTLS, serving.Cert, o.NoteNamespace, host.Client, objects)
	serving.Cert = config.Certificate
	return nil
}

// chooseAdvertisedAddress chooses the address of the default route, if there is one. The generic
// server requires an address, but does not publish it: the host cluster finds this server through a
// Service.
func (o *Options) chooseAdvertisedAddress() {
	if o.Server.DefaultAdvertiseAddress(o.Serving.SecureServingOptions) == nil {
		return
	}
	o.Server.AdvertiseAddress = o.Serving.BindAddress
	if o.Serving.BindAddress.IsUnspecified() {
		o.Server.AdvertiseAddress = net.IPv4(127, 0, 0, 1)
	}
}

// applyHost makes the host cluster decide who may do what.
func (o *Options) applyHost(ctx context.Context, config *Config, host *hostcluster.Host) error {
	generic := &config.Generic.Config
	config.HostReady = host.Ready
	objects, err := host.Metadata()
	if err != nil {
		return err
	}
	config.Dependents = dependents.New(objects)
	config.StorageClasses = hostcluster.NewStorageClasses(host.Client)
	if config.Services, err = hostcluster.NewServices(host.Client); err != nil {
		return err
	}
	if err := access.ApplyAuthentication(o.Authentication, generic); err != nil {
		return err
	}
	if err := access.ApplyAuthorization(o.Authorization, generic); err != nil {
		return err
	}
	if err := o.Audit.ApplyTo(generic); err != nil {
		return fmt.Errorf("preparing the audit log: %w", err)
	}
	host.ReportVersion(ctx)
	policies, err := admission.FollowPolicies(ctx, host)
	if err != nil {
		return err
	}
	return admission.Apply(o.Admission, o.Features, config.Generic, host, policies, o.NoteNamespace, o.ObjectNamespaces)
}

// ApplyStorage connects the server to its store.
func (c *Config) ApplyStorage(o *backend.Options) error {
	c.watchCache = o.Etcd.EnableWatchCache
	return storage.Apply(o, c.codecs, &c.Generic.Config)
}

// applySpace limits what is written to the store. The function that it returns stops that.
func (o *Options) applySpace(ctx context.Context, config *Config) (func() error, error) {
	etcd, err := o.Storage.Client()
	if err != nil {
		return nil, err
	}
	remedies := space.Remedies{Defragment: "defragment etcd", Enlarge: "start etcd with a larger --quota-backend-bytes"}
	if o.Storage.Embedded() {
		remedies = space.Remedies{
			Defragment: "restart this server, which defragments it",
			Enlarge:    "move the store to your own etcd with a larger quota, see docs/backup.md",
		}
	}
	room, stop, err := o.Space.Start(ctx, etcd, remedies)
	if err != nil {
		return nil, errors.Join(err, etcd.Close())
	}
	config.Room = room
	return func() error {
		stop()
		return etcd.Close()
	}, nil
}
