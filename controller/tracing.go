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

// startSpan begins the span of a sync, in the trace of the set's generation. The ID of that trace
// decides about sampling. So either all syncs of a generation are sampled, on any replica, or none.
func (t *term) startSpan(ctx context.Context, set *v1.StatefulSet) (context.Context, trace.Span) {
	id, _ := identity.RolloutTrace(set)
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: id}))
	return t.config.Tracer.Start(ctx, "sync", trace.WithAttributes(
		attribute.String("set.namespace", set.Namespace), attribute.String("set.name", set.Name),
		attribute.String("set.uid", string(set.UID)), attribute.Int64("set.generation", set.Generation)))
}

// endSpan records how the sync ended. The text of an error may repeat parts of a template, so the
// span has only its reason.
func endSpan(span trace.Span, err error) {
	if err != nil {
		span.SetAttributes(attribute.String("error.type", string(apierrors.ReasonForError(err))))
		span.SetStatus(codes.Error, "sync failed")
	}
	span.End()
}

// TraceRequests creates a span for each request that belongs to a span. Other requests, such as
// watches and renewals of the lease, have no span.
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

// WrappedRoundTripper returns the transport below, for code that needs the transport itself.
func (r tracedRequests) WrappedRoundTripper() http.RoundTripper { return r.plain }
