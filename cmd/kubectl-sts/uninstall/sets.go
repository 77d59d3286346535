// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "statefulset.dev/api/apps/v1"
)

// endSets deletes all sets, with or without their pods, and waits until nothing belongs to a set
// any more. It also deletes sets that are created in the meantime.
func (r *run) endSets(ctx context.Context, s situation) error {
	if !s.answered() {
		return nil
	}
	asked := r.deleteSets || r.orphanMembers
	begun := map[string]bool{}
	return r.await(ctx, "no set is left and nothing belongs to a set", func(ctx context.Context) (string, error) {
		sets, err := r.listSets(ctx)
		if err != nil {
			return "", err
		}
		if len(sets) > 0 && !asked {
			return "", fmt.Errorf("sets were created in the meantime, so the registration stays:\n%s", list(sets))
		}
		for i := range sets {
			if err := r.endSet(ctx, &sets[i], begun); err != nil {
				return "", err
			}
		}
		left, err := r.countOwned(ctx)
		if err != nil || len(sets) == 0 && left.none() {
			return "", err
		}
		return fmt.Sprintf("%d sets; %s belong to sets", len(sets), left), nil
	})
}

func (r *run) endSet(ctx context.Context, set *metav1.PartialObjectMetadata, begun map[string]bool) error {
	if set.DeletionTimestamp != nil || begun[string(set.UID)] {
		return nil
	}
	policy, what := metav1.DeletePropagationForeground, "with its pods"
	if r.orphanMembers {
		policy, what = metav1.DeletePropagationOrphan, "its pods stay"
	}
	err := r.objects.Resource(v1.SchemeGroupVersion.WithResource("statefulsets")).Namespace(set.Namespace).Delete(ctx, set.Name,
		metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &set.UID}})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err): // another set replaced it: handled in the next poll
		return nil
	case err != nil:
		return fmt.Errorf("deleting set %s/%s: %w", set.Namespace, set.Name, err)
	}
	begun[string(set.UID)] = true
	r.printf("deleted set %s/%s (%s)", set.Namespace, set.Name, what)
	return nil
}

// await polls until nothing is left, and fails with what was left last.
func (r *run) await(ctx context.Context, what string, poll func(context.Context) (left string, err error)) error {
	var last string
	err := wait.PollUntilContextTimeout(ctx, r.interval, r.patience, true, func(ctx context.Context) (bool, error) {
		left, err := poll(ctx)
		if err != nil {
			return false, err
		}
		if left != last && left != "" {
			r.printf("waiting until %s: %s", what, left)
		}
		last = left
		return left == "", nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("timed out after %s, waiting until %s; last state: %s. Nothing was lost; run the same command again", r.patience.Round(time.Millisecond),
			what, last)
	}
	return err
}
