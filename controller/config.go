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

// Config configures a controller.
type Config struct {
	Options

	// Host is the cluster that runs the pods.
	Host kubernetes.Interface
	// Objects are the clients for the objects that templates of sets describe next to pods. Without
	// them, sets with such templates wait.
	Objects *objects.Clients
	// ObjectNamespaces are the namespaces in which objects are created, watched and deleted; nil
	// stands for all. Sets in other namespaces that describe objects keep their existing objects,
	// and are stalled.
	ObjectNamespaces identity.ObjectNamespaces
	// Sets is the client for our own API. It connects directly, not through the cluster's
	// aggregator.
	Sets versioned.Interface
	// Identity distinguishes this replica from the others. No later process may use it again:
	// "<hostname>_<uuid>".
	Identity string

	// WaitDurable returns when a store that lacks this resource version of a set can no longer be
	// served unless an operator decides so. The controller calls it before its first write to the
	// cluster for each generation of a set. Otherwise, if the store were lost, the cluster's
	// garbage collector could delete what the controller wrote. Nil stands for a store that cannot
	// be lost.
	WaitDurable func(ctx context.Context, resourceVersion string) error
	// Trial evaluates expressions that may have ended a process, in a separate process; nil stands
	// for this process.
	Trial Trial
	// Events receives the events; nil stands for the host cluster.
	Events record.EventSink
	// Clock tells the time; nil stands for the real one.
	Clock clock.WithTicker
	// HostTime is the time of the host cluster. It must observe the answers to requests of Host.
	// Nil stands for a cluster that shares Clock.
	HostTime *HostTime
	// RegisterMetric registers a metric; nil stands for no registry.
	RegisterMetric func(metrics.Registerable) error
	// Tracer creates one span for each sync; nil stands for no tracing.
	Tracer trace.Tracer
}

func (c *Config) complete() error {
	if c.Host == nil || c.Sets == nil {
		return errors.New("controller needs a client for the host cluster and one for its own API")
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

// NewHostClient returns a client for the host cluster that suits a controller: it uses protobuf,
// and has no rate limit of its own, because the cluster itself refuses requests when there are too
// many.
func NewHostClient(config *rest.Config) (kubernetes.Interface, error) {
	client, err := kubernetes.NewForConfig(tuned(config))
	if err != nil {
		return nil, fmt.Errorf("building client for the host cluster: %w", err)
	}
	return client, nil
}

// NewSetsClient returns a client for our own API, based on the server's loopback configuration.
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
