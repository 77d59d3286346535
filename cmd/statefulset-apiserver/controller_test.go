// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver"
	"statefulset.dev/controller"
	"statefulset.dev/identity"
)

// askedTracing remembers for whom it was asked.
type askedTracing struct {
	noop.TracerProvider
	names []string
}

func (p *askedTracing) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	p.names = append(p.names, name)
	return p.TracerProvider.Tracer(name, options...)
}

func TestTheControllerTracesAsTheServerDoes(t *testing.T) {
	var sent atomic.Pointer[http.Header]
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Store(&r.Header)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Pod","apiVersion":"v1"}`))
	}))
	defer host.Close()
	tracing := &askedTracing{}
	colocated := &colocated{
		options: controller.NewOptions(), copies: copies{server: &apiserver.Options{ObjectNamespaces: identity.ObjectNamespaces{"a"}}}}
	config, err := colocated.config(
		apiserver.Access{Host: &rest.Config{Host: host.URL}, Loopback: &rest.Config{Host: host.URL}, Tracing: tracing})
	if err != nil {
		t.Fatalf("preparing the controller: %v", err)
	}
	if want := "statefulset.dev/controller"; config.Tracer == nil || !slices.Contains(tracing.names, want) {
		t.Errorf("got tracer %v, and the server's tracing was asked for %v, want one for %s", config.Tracer, tracing.names, want)
	}
	if want := []string{"a"}; !slices.Equal(config.ObjectNamespaces, want) {
		t.Errorf("got the namespaces of objects %q, want those of the server, %q", config.ObjectNamespaces, want)
	}
	within := trace.ContextWithSpanContext(t.Context(),
		trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	if _, err := config.Host.CoreV1().Pods("shop").Get(within, "web-0", metav1.GetOptions{}); err != nil {
		t.Fatalf("asking the host: %v", err)
	}
	if got := sent.Load().Get("Traceparent"); got == "" {
		t.Errorf("got a request without traceparent from within a span, want the host to be told of it")
	}
	if _, err := config.Host.CoreV1().Pods("shop").Get(t.Context(), "web-0", metav1.GetOptions{}); err != nil {
		t.Fatalf("asking the host: %v", err)
	}
	if got := sent.Load().Get("Traceparent"); got != "" {
		t.Errorf("got traceparent %q of a request that belongs to no span, want none", got)
	}
}
