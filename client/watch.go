// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	v1 "statefulset.dev/api/apps/v1"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
)

// Change is what happened to a set.
type Change struct {
	// Type is watch.Added, watch.Modified or watch.Deleted.
	Type watch.EventType
	// Set is as it was after that, and before it if it is deleted.
	Set *v1.StatefulSet
}

// Watch tells of all changes after options.ResourceVersion, which is that of a list or of a set. A watch that
// is cut off goes on after the last change that was told. It ends with ctx, or with an error: if
// apierrors.IsResourceExpired or apierrors.IsGone, the version is too old, and one has to list anew.
func Watch(ctx context.Context, sets typed.StatefulSetInterface, options metav1.ListOptions) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		ctx, refuse := context.WithCancelCause(ctx)
		defer refuse(nil)
		watcher, err := watchtools.NewRetryWatcherWithContext(ctx, options.ResourceVersion, &cache.ListWatch{
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.LabelSelector, o.FieldSelector = options.LabelSelector, options.FieldSelector
				w, err := sets.Watch(ctx, o)
				if err != nil && stays(err) {
					refuse(err) // it would be tried again for ever
				}
				return w, err
			},
		})
		if err != nil {
			yield(Change{}, fmt.Errorf("watching: %w", err))
			return
		}
		defer watcher.Stop()
		for event := range watcher.ResultChan() {
			set, ok := event.Object.(*v1.StatefulSet)
			switch {
			case event.Type == watch.Error:
				yield(Change{}, apierrors.FromObject(event.Object))
				return
			case event.Type == watch.Bookmark || !ok:
			case !yield(Change{event.Type, set}, nil):
				return
			}
		}
		if err := context.Cause(ctx); err != nil {
			yield(Change{}, err)
		}
	}
}

// stays says whether the cluster has refused a watch in a way that another attempt would not change.
func stays(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusTooManyRequests
}
