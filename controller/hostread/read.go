// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostread

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
)

// Timeout is how long a request to the host may take, admission webhooks included.
const Timeout = 30 * time.Second

// pauses are those before something is read again.
func pauses() wait.Backoff {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 3, Jitter: 0.1, Steps: 3}
}

// Again reads something past the caches, and again after pauses if that fails in a way that may pass.
// Several reads come before some writes, and if each of their failures put the write off, a host that
// fails half of the requests would have it put off for as long as there is patience.
func Again[T any](ctx context.Context, clock clock.Clock, read func(context.Context) (T, error)) (T, error) {
	for left := pauses(); ; {
		found, err := read(ctx)
		if err == nil || left.Steps == 0 || !mayPass(err) {
			return found, err
		}
		select {
		case <-clock.After(left.Step()):
		case <-ctx.Done():
			return found, err
		}
	}
}

// mayPass reports whether a read failed on the way, or in the host. One that the host has no time for
// is not asked again at once.
func mayPass(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err)
}
