// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "statefulset.dev/api/apps/v1"
)

// rereads are the pauses before something is read again.
func rereads() wait.Backoff {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 3, Jitter: 0.1, Steps: 3}
}

// readAgain reads something past the caches, and again after pauses if that fails in a way that may pass.
// Several reads come before some writes, and if each of their failures put the write off, a host that
// fails half of the requests would have it put off for as long as there is patience.
func readAgain[T any](ctx context.Context, t *term, read func(context.Context) (T, error)) (T, error) {
	for pauses := rereads(); ; {
		found, err := read(ctx)
		if err == nil || pauses.Steps == 0 || !mayPass(err) {
			return found, err
		}
		select {
		case <-t.Clock.After(pauses.Step()):
		case <-ctx.Done():
			return found, err
		}
	}
}

// liveSet reads a set past the caches.
func (t *term) liveSet(ctx context.Context, set *v1.StatefulSet) (*v1.StatefulSet, error) {
	return readAgain(ctx, t, func(ctx context.Context) (*v1.StatefulSet, error) {
		return t.Sets.AppsV1().StatefulSets(set.Namespace).Get(ctx, set.Name, metav1.GetOptions{})
	})
}

// mayPass reports whether a read failed on the way, or in the host. One that the host has no time for
// is not asked again at once.
func mayPass(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err)
}
