// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"net"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/tracing"
)

// noResync keeps informers from handing out again what has not changed.
const noResync time.Duration = 0

// applyServing takes the port, and prepares all that does not need the host.
func (o *Options) applyServing(config *Config) error {
	generic := &config.Generic.Config
	if err := o.Serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return fmt.Errorf("making a self-signed certificate: %w", err)
	}
	o.chooseAdvertisedAddress()
	if err := o.Server.ApplyTo(generic); err != nil {
		return fmt.Errorf("applying the generic options: %w", err)
	}
	port := o.Serving.BindPort // which a failure resets
	if err := o.Serving.ApplyToConfig(generic); err != nil {
		return fmt.Errorf("preparing to serve on --bind-address %s --secure-port %d: %w", o.Serving.BindAddress, port, err)
	}
	if err := o.Traces.ApplyTo(nil, generic); err != nil {
		return fmt.Errorf("applying --tracing-config-file %q: %w", o.Traces.ConfigFile, err)
	}
	generic.TracerProvider = hastyTracer{generic.TracerProvider}
	return nil
}

// chooseAdvertisedAddress takes that of the default route, if there is one. The generic
// server wants an address, and nobody is told of it: the host finds us by a Service.
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
func (o *Options) applyHost(ctx context.Context, config *Config, host *host) error {
	generic := &config.Generic.Config
	config.HostReady = host.ready
	var err error
	if config.Dependents, err = newDependents(host); err != nil {
		return err
	}
	if config.Services, err = newHeadlessServices(host.client); err != nil {
		return err
	}
	if err := applyAuthentication(o.Authentication, generic); err != nil {
		return err
	}
	if err := applyAuthorization(o.Authorization, generic); err != nil {
		return err
	}
	if err := o.Audit.ApplyTo(generic); err != nil {
		return fmt.Errorf("preparing the audit log: %w", err)
	}
	host.reportVersion(ctx)
	policies, err := followPolicies(ctx, host)
	if err != nil {
		return err
	}
	return o.applyAdmission(config.Generic, host, policies)
}

// applyAdmission makes the server follow the host's namespaces, policies,
// webhooks, quotas and flow schemas.
func (o *Options) applyAdmission(generic *genericapiserver.RecommendedConfig, host *host, policies *hostPolicies) error {
	generic.ClientConfig = rest.CopyConfig(host.config)
	generic.ClientConfig.Wrap(tracing.WrapperFor(generic.TracerProvider))
	generic.SharedInformerFactory = informers.NewSharedInformerFactory(host.watching, noResync)
	dynamicClient, err := dynamic.NewForConfig(generic.ClientConfig)
	if err != nil {
		return fmt.Errorf("creating a client for the host cluster at %s: %w", host.config.Host, err)
	}
	if err := o.Features.ApplyTo(&generic.Config, host.client, generic.SharedInformerFactory); err != nil {
		return fmt.Errorf("preparing priority and fairness: %w", err)
	}
	if err := o.Admission.ApplyTo(&generic.Config, generic.SharedInformerFactory, host.client, dynamicClient,
		utilfeature.DefaultFeatureGate, generic.EffectiveVersion, quotaInitializer{}, policies); err != nil {
		return fmt.Errorf("preparing admission: %w", err)
	}
	return policies.addTo(&generic.Config)
}
