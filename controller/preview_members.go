// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// Members reports each desired member of a set that has a pod in the cluster, in ascending order:
// its ordinal, the UID and the revision of the pod, and whether the pod serves.
func (p *Preview) Members(ctx context.Context, set *v1.StatefulSet,
	tell func(ordinal int, pod types.UID, revision string, serves bool)) error {
	known := newView(p.kinds)
	if err := known.put(setsResource, set); err != nil {
		return err
	}
	kind := p.kinds.of(podsResource)
	world := plan.World{Set: set, Now: p.clock.Now()}
	err := kind.pages(ctx, set.Namespace, func(object metav1.Object) error {
		if len(kind.setsOf(known, object)) == 0 {
			return nil
		}
		if len(world.Pods) == mostKept {
			return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("%s has more than %d pods, which is the limit", set.Name, mostKept))
		}
		if pod, ok := kind.trim(known, object).(*corev1.Pod); ok {
			world.Pods = append(world.Pods, pod)
		}
		return nil
	})
	switch {
	case apierrors.IsRequestEntityTooLargeError(err):
		return err
	case err != nil:
		answer := apierrors.NewServiceUnavailable(
			fmt.Sprintf("the state of the members is not known, because the host cluster did not list pods: %v", err))
		answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfter}
		return answer
	}
	plan.TellMembers(world, tell)
	return nil
}
