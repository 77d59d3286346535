// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// rereads are the pauses before something is read again.
func rereads() wait.Backoff {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 3, Jitter: 0.1, Steps: 3}
}

// readAgain reads something past the caches, and again after pauses if that fails in a way that may pass.
// Several reads come before some writes, and if each of their failures put the write off, a host that
// fails half of the requests would have it put off for as long as there is patience.
func (t *term) readAgain(ctx context.Context, read func(context.Context) error) error {
	for pauses := rereads(); ; {
		err := read(ctx)
		if err == nil || pauses.Steps == 0 || !mayPass(err) {
			return err
		}
		select {
		case <-t.Clock.After(pauses.Step()):
		case <-ctx.Done():
			return err
		}
	}
}

// mayPass reports whether a read failed on the way, or in the host. One that the host has no time for
// is not asked again at once.
func mayPass(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err)
}
