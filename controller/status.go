// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

// writeStatus writes the status if a reader would notice a difference.
func (t *term) writeStatus(ctx context.Context, set *v1.StatefulSet, status v1.StatefulSetStatus) error {
	if equality.Semantic.DeepEqual(set.Status, status) {
		return nil
	}
	updated := *set
	updated.Status = status
	return t.write(ctx, func(ctx context.Context) error {
		written, err := t.Sets.AppsV1().StatefulSets(set.Namespace).UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
		switch {
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			return &staleRead{err}
		case err != nil:
			return fmt.Errorf("writing status: %w", err)
		}
		t.memory.of(cache.MetaObjectToName(set)).wrote(setsResource, written.ResourceVersion)
		return nil
	})
}
