// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/transport"
	"k8s.io/component-base/tracing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// startSpan begins the span of a sync, in the trace of the set's generation. Whether it
// is sampled is decided by the ID of that trace, so all syncs of a generation are, on
// any replica, or none.
func (t *term) startSpan(ctx context.Context, set *v1.StatefulSet) (context.Context, trace.Span) {
	id, _ := identity.RolloutTrace(set)
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: id}))
	return t.Tracer.Start(ctx, "sync", trace.WithAttributes(
		attribute.String("set.namespace", set.Namespace), attribute.String("set.name", set.Name),
		attribute.String("set.uid", string(set.UID)), attribute.Int64("set.generation", set.Generation)))
}

// endSpan says how the sync ended. The words of an error may repeat what a template
// has, so only its reason is told.
func endSpan(span trace.Span, err error) {
	if err != nil {
		span.SetAttributes(attribute.String("error.type", string(apierrors.ReasonForError(err))))
		span.SetStatus(codes.Error, "sync failed")
	}
	span.End()
}

// TraceRequests makes each request that belongs to a span have a span of its own. Those
// that belong to none, such as watches and the renewals of the lease, have none.
func TraceRequests(provider trace.TracerProvider) transport.WrapperFunc {
	return func(plain http.RoundTripper) http.RoundTripper {
		return tracedRequests{plain, tracing.WrapperFor(provider)(plain)}
	}
}

type tracedRequests struct{ plain, traced http.RoundTripper }

func (r tracedRequests) RoundTrip(request *http.Request) (*http.Response, error) {
	if trace.SpanContextFromContext(request.Context()).HasSpanID() {
		return r.traced.RoundTrip(request)
	}
	return r.plain.RoundTrip(request)
}

// WrappedRoundTripper is what is below, for whoever looks for the transport itself.
func (r tracedRequests) WrappedRoundTripper() http.RoundTripper { return r.plain }
