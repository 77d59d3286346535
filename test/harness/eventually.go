// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// Patience bounds every wait for what the cluster does by itself. It is far more than
	// that takes on an idle machine, and never the reason for a verdict.
	Patience = 4 * time.Minute
	// poll is how often is looked.
	poll = 50 * time.Millisecond
)

// Eventually waits until check is satisfied; if it never is, the test fails with what
// check said last.
func Eventually(t testing.TB, what string, check func(ctx context.Context) error) {
	t.Helper()
	EventuallyWithin(t, Patience, what, check)
}

// EventuallyWithin does the same for what must not take longer.
func EventuallyWithin(t testing.TB, limit time.Duration, what string, check func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), poll, limit, true, func(ctx context.Context) (bool, error) {
		said := check(ctx)
		if ctx.Err() == nil || last == nil { // a check that was cut short says nothing of what it waits for
			last = said
		}
		return said == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v; last seen: %v", what, err, last)
	}
}
