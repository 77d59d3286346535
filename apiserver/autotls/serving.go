// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"statefulset.dev/store/issuer"
)

var (
	_ dynamiccertificates.CertKeyContentProvider = &Certificate{}
	_ dynamiccertificates.ControllerRunner       = &Certificate{}

	errNotMade = errors.New("the serving certificate has not been issued yet")
)

// leaf is the serving certificate, and the host name for which it was issued.
type leaf struct {
	issuer.Leaf
	host string
}

// Certificate is the serving certificate of the server. Until it is issued, the server serves with
// another certificate that no client trusts, and is not ready.
type Certificate struct {
	until     dynamiccertificates.CertKeyContentProvider
	schedule  schedule
	keeper    keeper
	registrar registrar
	clock     clock.PassiveClock
	queue     workqueue.TypedRateLimitingInterface[struct{}]

	mu        sync.Mutex
	served    leaf
	failed    error // why the last sync failed
	listeners []dynamiccertificates.Listener
}

// New prepares a certificate. until is the certificate to serve before it is issued, and namespace
// is the namespace of the CAs in the host cluster.
func New(o *Options, until dynamiccertificates.CertKeyContentProvider, namespace string, host kubernetes.Interface,
	objects dynamic.Interface) *Certificate {
	return &Certificate{
		until:     until,
		schedule:  schedule{certificate: o.CertificateLifetime, authority: o.AuthorityLifetime},
		keeper:    keeper{namespace: namespace, core: host.CoreV1()},
		registrar: registrar{client: objects},
		clock:     clock.RealClock{},
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[struct{}](shortestPause, longestPause)),
		failed: errNotMade,
	}
}

// Name returns the name for logs.
func (c *Certificate) Name() string { return "tls-auto" }

// CurrentCertKeyContent returns the certificate and key to serve with, as PEM.
func (c *Certificate) CurrentCertKeyContent() (certificate, key []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.served.Certificate == nil {
		return c.until.CurrentCertKeyContent()
	}
	return c.served.Certificate, c.served.Key
}

// AddListener adds a listener for new certificates.
func (c *Certificate) AddListener(l dynamiccertificates.Listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, l)
}

// ReadyCheck checks that the server has a certificate that the host cluster accepts, and returns
// why not.
func (c *Certificate) ReadyCheck() healthz.HealthChecker {
	return healthz.NamedCheck("certificate", func(*http.Request) error { return c.check() })
}

func (c *Certificate) check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch now := c.clock.Now(); {
	case c.served.Certificate == nil:
		return c.failed
	case !c.served.Until.After(now):
		return fmt.Errorf("the serving certificate expired on %s: %w", c.served.Until.UTC().Format(time.RFC3339), c.failed)
	}
	return nil
}

func (c *Certificate) serve(made leaf) {
	c.mu.Lock()
	c.served = made
	listeners := c.listeners
	c.mu.Unlock()
	for _, l := range listeners {
		l.Enqueue()
	}
}

// RunOnce issues the certificate if possible, so that the server need not start with one that no
// client trusts.
func (c *Certificate) RunOnce(ctx context.Context) error {
	_, err := c.sync(ctx)
	return err
}

// Run renews what is due, until ctx ends. It syncs when an object in the host cluster that it reads
// has changed, and when something is due.
func (c *Certificate) Run(ctx context.Context, _ int) {
	for _, informer := range c.changes() {
		go informer.RunWithContext(ctx)
	}
	c.queue.Add(struct{}{})
	go func() {
		<-ctx.Done()
		c.queue.ShutDown()
	}()
	c.work(ctx)
}

// changes returns informers of the objects that a sync reads.
func (c *Certificate) changes() []cache.SharedIndexInformer {
	look := func(any) { c.queue.Add(struct{}{}) }
	handler := cache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, now any) { look(now) }, DeleteFunc: look}
	var informers []cache.SharedIndexInformer
	for _, one := range []struct {
		kind            schema.GroupVersionResource
		namespace, name string
	}{
		{apiServices(), metav1.NamespaceAll, registrationName},
		{schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, c.keeper.namespace, secretName},
	} {
		informer := dynamicinformer.NewFilteredDynamicInformer(c.registrar.client, one.kind, one.namespace, 0, cache.Indexers{},
			func(o *metav1.ListOptions) {
				o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, one.name).String()
			}).Informer()
		// It only fails for an informer that has been stopped, and this one has not been started.
		_, _ = informer.AddEventHandler(handler)
		informers = append(informers, informer)
	}
	return informers
}
