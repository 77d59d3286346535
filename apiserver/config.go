// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver/autotls"
	"statefulset.dev/apiserver/bodylimit"
	"statefulset.dev/apiserver/certificates"
	"statefulset.dev/apiserver/filters"
	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/apiserver/scheme"
	"statefulset.dev/registry/damaged"
	"statefulset.dev/registry/statefulset/preflight"
	"statefulset.dev/store/guard"
	"statefulset.dev/store/space"
)

// Config is everything that a server is built from, already resolved.
type Config struct {
	// Generic configures the part that every Kubernetes API server has. Its RESTOptionsGetter
	// provides the storage.
	Generic *genericapiserver.RecommendedConfig

	// HostReady returns why the host cluster cannot be used, nil if it can. It is nil if the server
	// has no host cluster, as in tests.
	HostReady func(context.Context) error

	// Certificate is the serving certificate if the server issues it itself, else nil.
	Certificate *autotls.Certificate

	// Preflight tries sets in the host cluster before they are stored. By default, it tries none.
	Preflight preflight.Preflight

	// Services knows the headless Services of the host cluster, for warnings. It is nil if warnings
	// are not possible, as in tests.
	Services *hostcluster.Services
	// StorageClasses looks up StorageClasses of the host cluster, for warnings. It is set if
	// Services is.
	StorageClasses *hostcluster.StorageClasses

	// Dependents finds the objects in the host cluster that belong to a set. It is nil if the
	// server has no host cluster, as in tests.
	Dependents damaged.Host

	// Planner makes the plans that /plan serves. It is nil if the server serves none.
	Planner Planner

	// RunController runs the controller until its context ends. It gets access to this server. It
	// must return only then, or with an error. It is nil for a server without a controller.
	RunController func(ctx context.Context, loopback *rest.Config) error

	// ControllerReady returns why the controller cannot do its work, nil if it can. It may be nil.
	ControllerReady func() error

	// ControllerState returns what the controller is doing, for debugging. It may be nil.
	ControllerState func() ControllerState

	// Guard prevents the server from serving anything while the store is not the right one. It is
	// nil if nothing checks that, as in tests.
	Guard *guard.Guard
	// watchCache is true if sets are served from a cache.
	watchCache bool

	// Room limits what is written to the store. It is nil if nothing does, as in tests.
	Room *space.Room

	damaged *damaged.Sets

	scheme *runtime.Scheme
	codecs serializer.CodecFactory
}

// CompletedConfig is a Config with defaults, which only Complete creates.
type CompletedConfig struct {
	config  *Config
	generic genericapiserver.CompletedConfig
}

// Server is a server that is built but not started yet.
type Server struct {
	generic *genericapiserver.GenericAPIServer
}

// NewConfig returns a Config without storage, host cluster and controller.
func NewConfig() *Config {
	known := scheme.New()
	codecs := serializer.NewCodecFactory(known)
	generic := genericapiserver.NewRecommendedConfig(codecs)
	applyOpenAPI(&generic.Config)
	config := &Config{Generic: generic, scheme: known, codecs: codecs}
	build := generic.BuildHandlerChainFunc
	generic.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
		handler = bodylimit.New(generic.MaxRequestBodyBytes, codecs, handler)
		if config.Room != nil {
			handler = config.Room.Filter(codecs, handler)
		}
		return build(filters.Unredirect(filters.Announce(filters.LimitPlans(codecs, handler))), generic)
	}
	return config
}

// Complete sets the defaults.
func (c *Config) Complete() CompletedConfig {
	filters.EnableHandover(&c.Generic.Config)
	return CompletedConfig{config: c, generic: c.Generic.Complete()}
}

// New builds the server. It starts nothing.
func (c CompletedConfig) New() (*Server, error) {
	server, err := c.generic.New("statefulset-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("building the server: %w", err)
	}
	group, follow, err := apiGroup(c.config, c.config.tolerate(c.generic.RESTOptionsGetter))
	if err != nil {
		return nil, err
	}
	if err := server.InstallAPIGroup(group); err != nil {
		return nil, fmt.Errorf("installing group %s: %w", group.PrioritizedVersions[0].Group, err)
	}
	if err := followSets(server, follow); err != nil {
		return nil, err
	}
	unreadable := c.config.damagedSets()
	countDamaged(unreadable)
	answers := routes{damaged: func() any { return unreadable.List() }}
	certificates.ShowExpiry(c.generic.SecureServing.Cert)
	if c.config.RunController != nil {
		controller := newRunner(c.config.RunController, c.config.ControllerReady)
		if err := controller.addTo(server); err != nil {
			return nil, err
		}
		answers.ready, answers.state = controller.checkReady, c.config.ControllerState
	}
	answers.addTo(server)
	if services := c.config.Services; services != nil {
		if err := services.AddTo(server); err != nil {
			return nil, err
		}
	}
	if c.config.HostReady != nil {
		if err := hostcluster.NewWatch(c.config.HostReady).AddTo(server); err != nil {
			return nil, err
		}
	}
	if own := c.config.Certificate; own != nil {
		if err := server.AddReadyzChecks(own.ReadyCheck()); err != nil {
			return nil, fmt.Errorf("adding the check of the certificate: %w", err)
		}
	}
	if err := addStoreCheck(server, c.config.Guard); err != nil {
		return nil, err
	}
	return &Server{server}, nil
}

// Run serves until ctx ends, and returns after everything has stopped.
func (s *Server) Run(ctx context.Context) error {
	return s.generic.PrepareRun().RunWithContext(ctx)
}
