// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"time"

	"k8s.io/component-base/tracing"
)

// lastSpansTimeout is how long the end of the server waits for the last spans to be
// sent.
const lastSpansTimeout = 5 * time.Second

// hastyTracer does not keep the server from ending when nobody takes its spans.
type hastyTracer struct{ tracing.TracerProvider }

// Shutdown sends what was not sent yet.
func (t hastyTracer) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastSpansTimeout)
	defer cancel()
	return t.TracerProvider.Shutdown(ctx)
}
