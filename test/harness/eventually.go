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
	// Patience limits every wait for what the cluster does by itself. It is much longer than an
	// idle machine needs, so it does not decide the result.
	Patience = 4 * time.Minute
	// poll is how often the condition is checked.
	poll = 50 * time.Millisecond
)

// Eventually waits until check returns no error. If it never does, the test fails with the last
// error.
func Eventually(t testing.TB, what string, check func(ctx context.Context) error) {
	t.Helper()
	EventuallyWithin(t, Patience, what, check)
}

// EventuallyWithin is Eventually with a time limit.
func EventuallyWithin(t testing.TB, limit time.Duration, what string, check func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), poll, limit, true, func(ctx context.Context) (bool, error) {
		said := check(ctx)
		if ctx.Err() == nil || last == nil { // the error of an interrupted check says nothing about its condition
			last = said
		}
		return said == nil, nil
	})
	if err != nil {
		t.Fatalf("waiting until %s: %v; last seen: %v", what, err, last)
	}
}
