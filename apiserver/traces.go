// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"time"

	"k8s.io/component-base/tracing"
)

// lastSpansTimeout is how long a server that ends waits until the last spans have been sent.
const lastSpansTimeout = 5 * time.Second

// hastyTracer lets the server end even if no collector accepts its spans.
type hastyTracer struct{ tracing.TracerProvider }

// Shutdown sends the remaining spans.
func (t hastyTracer) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastSpansTimeout)
	defer cancel()
	return t.TracerProvider.Shutdown(ctx)
}
