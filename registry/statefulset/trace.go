// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// linkRollouts links the span of a request that writes a set to the trace of the controller's work
// for it.
func linkRollouts(store *genericregistry.Store) {
	store.BeginCreate = func(_ context.Context, obj runtime.Object, options *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		return linkWhenWritten(obj, options.DryRun), nil
	}
	store.BeginUpdate = func(_ context.Context, obj, _ runtime.Object, options *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
		return linkWhenWritten(obj, options.DryRun), nil
	}
}

func linkWhenWritten(obj runtime.Object, dryRun []string) genericregistry.FinishFunc {
	return func(ctx context.Context, success bool) {
		span := trace.SpanFromContext(ctx)
		set, ok := obj.(*v1.StatefulSet)
		if !ok || !success || len(dryRun) > 0 || !span.IsRecording() {
			return
		}
		id, root := identity.RolloutTrace(set)
		span.AddLink(trace.Link{
			SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: root, Remote: true}),
			Attributes: []attribute.KeyValue{
				attribute.String("set.uid", string(set.UID)), attribute.Int64("set.generation", set.Generation),
			},
		})
	}
}
