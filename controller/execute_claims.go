// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// createClaims creates the claims of one member in parallel. If a claim already exists, the planner
// has not seen it, and must evaluate it first.
func (e *execution) createClaims(ctx context.Context, claims []*corev1.PersistentVolumeClaim) error {
	return joined(hostread.InParallel(ctx, len(claims), writesPerSet, func(i int) error { return e.createClaim(ctx, claims[i]) }))
}

func (e *execution) createClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	what := subject{kind: "claim", name: claim.Name}
	err := e.add(ctx, claimsResource, what, claim)
	if err == nil {
		e.recordSuccess(create, what)
	}
	return err
}

func (e *execution) updateClaim(ctx context.Context, act action.UpdateClaim) error {
	what := subject{kind: "claim", name: act.Claim.Name}
	err := e.change(ctx, claimsResource, what, act.Claim,
		change{labels: present(act.Labels), annotations: present(act.Annotations), size: act.Size, attributesClass: act.AttributesClass})
	if err == nil {
		e.recordSuccess(update, what)
	}
	return err
}

func (e *execution) setClaimOwners(ctx context.Context, act action.SetClaimOwners) error {
	what := subject{part: "owners of ", kind: "claim", name: act.Claim.Name}
	return e.change(ctx, claimsResource, what, act.Claim, change{owners: ownerList(act.Owners)})
}

// ownerList are owners in the form that a change needs: an empty list for none.
func ownerList(owners []metav1.OwnerReference) []metav1.OwnerReference {
	if owners == nil {
		return []metav1.OwnerReference{}
	}
	return owners
}

// markClaim writes annotations that concern only the set, so there is no event.
func (e *execution) markClaim(ctx context.Context, act action.MarkClaim) error {
	what := subject{part: "annotations of ", kind: "claim", name: act.Claim.Name}
	return e.change(ctx, claimsResource, what, act.Claim, change{annotations: act.Annotations})
}

// deleteClaim deletes a claim, and its data, as the set requests. The data cannot be restored, so
// neither the caches nor the preconditions suffice. The store and the cluster must confirm now that
// the set still requests the deletion, that the member has no pod, and that the claim is due.
func (e *execution) deleteClaim(ctx context.Context, act action.DeleteClaim) error {
	what := subject{kind: "claim", name: act.Claim.Name}
	if err := e.confirmRemoved(ctx, act.Ordinal); err != nil {
		return err
	}
	if err := e.confirmDue(act.Due); err != nil {
		return err
	}
	err := e.remove(ctx, claimsResource, what, act.Claim)
	if err == nil {
		e.recordSuccess(deletion, what)
	}
	return err
}

// errPodExists is why the claims and objects of a removed member are not deleted.
var errPodExists = errors.New("still exists")

// confirmRemoved verifies, past the caches, that the set has not changed since the plan and that a
// member has no pod.
func (e *execution) confirmRemoved(ctx context.Context, ordinal int) error {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	if err := e.confirmUnchanged(ctx); err != nil {
		return err
	}
	switch pod, err := e.podOf(ctx, ordinal); {
	case err != nil:
		return fmt.Errorf("reading pod %s before deleting a claim or an object of its member: %w", identity.PodName(e.set.Name, ordinal), err)
	case pod != nil:
		if !isWatched(pod) {
			e.term.states.getOrCreate(e.key).addUnlabeledPod(pod.Name)
		}
		return &staleRead{fmt.Errorf("pod %s of the removed member %w", pod.Name, errPodExists)}
	}
	return nil
}

// confirmDue verifies a due time by the clock of the cluster, which has just answered.
func (e *execution) confirmDue(due time.Time) error {
	switch now, known := e.term.config.currentHostTime(); {
	case !known:
		return errors.New("the time of the host cluster is not known: its responses lack the header Date")
	case now.Before(due):
		return &staleRead{fmt.Errorf("not due before %s, and it is %s in the host cluster", due.Format(time.RFC3339), now.Format(time.RFC3339))}
	}
	return nil
}

// podOf reads the pod with a member's name past the caches, whatever controls it; nil if there is
// none.
func (e *execution) podOf(ctx context.Context, ordinal int) (*corev1.Pod, error) {
	pod, err := hostread.ReadWithRetry(ctx, e.term.config.Clock, func(ctx context.Context) (*corev1.Pod, error) {
		return e.term.config.Host.CoreV1().Pods(e.set.Namespace).Get(ctx, identity.PodName(e.set.Name, ordinal), metav1.GetOptions{})
	})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no pod is an answer
	}
	return pod, err
}

// confirmUnchanged verifies, past the caches, that the set has not changed since the plan.
func (e *execution) confirmUnchanged(ctx context.Context) error {
	live, err := e.term.liveSet(ctx, e.set)
	switch {
	case apierrors.IsNotFound(err):
		return &staleRead{err}
	case err != nil:
		return fmt.Errorf("reading the set before deleting what it no longer needs: %w", err)
	case live.UID != e.set.UID || live.Generation != e.set.Generation || live.DeletionTimestamp != nil || isSuspended(live):
		return &staleRead{errors.New("the set has changed")}
	}
	return nil
}
