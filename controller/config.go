// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/metrics"
	"k8s.io/utils/clock"

	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/controller/objects"
	"statefulset.dev/identity"
)

// Config is what a controller is made of.
type Config struct {
	Options

	// Host is the cluster that runs the pods.
	Host kubernetes.Interface
	// Objects reach what templates of sets describe beside pods. Without them, sets that have such
	// templates wait.
	Objects *objects.Clients
	// ObjectNamespaces are those in which objects are created, watched and deleted; nil stands for all. Sets of
	// other namespaces that describe objects keep what they have, and are stalled.
	ObjectNamespaces identity.ObjectNamespaces
	// Sets is our own API, reached directly and not through the host's aggregator.
	Sets versioned.Interface
	// Identity tells this replica from the others. It must not be used again by a
	// later process: "<hostname>_<uuid>".
	Identity string

	// WaitDurable returns when it is certain that a store which does not have this
	// resource version of a set will not be served again without an operator's
	// decision. It is asked before the first write to the host for each generation of
	// a set; without it, a store that was lost could make the host's garbage collector
	// delete what was written. Nil stands for a store that cannot be lost.
	WaitDurable func(ctx context.Context, resourceVersion string) error
	// Trial evaluates what may have ended a process before in another one; nil stands for this process.
	Trial Trial
	// Events receives the events; nil stands for the host.
	Events record.EventSink
	// Clock tells the time; nil stands for the real one.
	Clock clock.WithTicker
	// HostTime is the time of the host. It has to observe the answers to Host. Nil stands for a host
	// that shares Clock.
	HostTime *HostTime
	// RegisterMetric makes a metric known to whoever serves it; nil stands for nobody.
	RegisterMetric func(metrics.Registerable) error
	// Tracer makes one span for each sync; nil stands for none.
	Tracer trace.Tracer
}

func (c *Config) complete() error {
	if c.Host == nil || c.Sets == nil {
		return errors.New("controller needs a client for the host and one for its own API")
	}
	if c.LeaderElect && c.Identity == "" {
		return errors.New("controller needs an identity to take part in leader election")
	}
	if err := errors.Join(c.Validate()...); err != nil {
		return fmt.Errorf("controller options: %w", err)
	}
	if c.Identity == "" {
		c.Identity = string(uuid.NewUUID()) // a mark names the process
	}
	if c.Events == nil {
		c.Events = &typedcorev1.EventSinkImpl{Interface: c.Host.CoreV1().Events("")}
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider().Tracer("")
	}
	return nil
}

// NewHostClient returns a client for the host that suits a controller: protobuf,
// and no fixed rate of its own, because the host says itself when it is too much.
func NewHostClient(config *rest.Config) (kubernetes.Interface, error) {
	client, err := kubernetes.NewForConfig(tuned(config))
	if err != nil {
		return nil, fmt.Errorf("building client for the host: %w", err)
	}
	return client, nil
}

// NewSetsClient returns a client for our own API, made from the server's loopback
// configuration.
func NewSetsClient(config *rest.Config) (versioned.Interface, error) {
	client, err := versioned.NewForConfig(tuned(config))
	if err != nil {
		return nil, fmt.Errorf("building client for our own API: %w", err)
	}
	return client, nil
}

func tuned(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return config
}
