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

// Timeout is how long a request to the host cluster may take, admission webhooks included.
const Timeout = 30 * time.Second

// readBackoff are the waits before a read is repeated.
func readBackoff() wait.Backoff {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 3, Jitter: 0.1, Steps: 3}
}

// ReadWithRetry reads something past the caches, and repeats the read after pauses if the failure
// may be temporary. Several reads come before some writes. If each failed read delayed the write, a
// cluster that fails half of its requests could delay it forever.
func ReadWithRetry[T any](ctx context.Context, clock clock.Clock, read func(context.Context) (T, error)) (T, error) {
	for left := readBackoff(); ; {
		found, err := read(ctx)
		if err == nil || left.Steps == 0 || !isTransient(err) {
			return found, err
		}
		select {
		case <-clock.After(left.Step()):
		case <-ctx.Done():
			return found, err
		}
	}
}

// isTransient reports whether a read failed in the network or inside the cluster. If the cluster
// refused it for lack of capacity, it is not repeated at once.
func isTransient(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err)
}
