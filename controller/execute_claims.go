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

// createClaims creates the claims of one member at the same time. One that is
// there already was not seen by the planner, who has to judge it first.
func (e *execution) createClaims(ctx context.Context, claims []*corev1.PersistentVolumeClaim) error {
	return joined(hostread.InParallel(ctx, len(claims), writesPerSet, func(i int) error { return e.createClaim(ctx, claims[i]) }))
}

func (e *execution) createClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	what := subject{kind: "claim", name: claim.Name}
	err := e.add(ctx, claimsResource, what, claim)
	if err == nil {
		e.tellSuccess(create, what)
	}
	return err
}

func (e *execution) updateClaim(ctx context.Context, act action.UpdateClaim) error {
	what := subject{kind: "claim", name: act.Claim.Name}
	err := e.change(ctx, claimsResource, what, act.Claim,
		change{labels: present(act.Labels), annotations: present(act.Annotations), size: act.Size, attributesClass: act.AttributesClass})
	if err == nil {
		e.tellSuccess(update, what)
	}
	return err
}

func (e *execution) setClaimOwners(ctx context.Context, act action.SetClaimOwners) error {
	what := subject{part: "owners of ", kind: "claim", name: act.Claim.Name}
	return e.change(ctx, claimsResource, what, act.Claim, change{owners: ownerList(act.Owners)})
}

// ownerList are owners as a change has them: none are an empty list.
func ownerList(owners []metav1.OwnerReference) []metav1.OwnerReference {
	if owners == nil {
		return []metav1.OwnerReference{}
	}
	return owners
}

// markClaim notes what concerns nobody but the set: there is no event for it.
func (e *execution) markClaim(ctx context.Context, act action.MarkClaim) error {
	what := subject{part: "annotations of ", kind: "claim", name: act.Claim.Name}
	return e.change(ctx, claimsResource, what, act.Claim, change{annotations: act.Annotations})
}

// deleteClaim deletes a claim that the set asks to have deleted, and its data. Nothing brings
// that back, so neither the caches nor the preconditions suffice: the set has to want it still,
// the member to have no pod, and the claim to be due, as our store and the host say now.
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
		e.tellSuccess(deletion, what)
	}
	return err
}

// errPodExists is why what a removed member had is not deleted.
var errPodExists = errors.New("still exists")

// confirmRemoved makes sure, past the caches, that the set is as it was planned for and that a
// member of it has no pod.
func (e *execution) confirmRemoved(ctx context.Context, ordinal int) error {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	if err := e.confirmUnchanged(ctx); err != nil {
		return err
	}
	switch pod, err := e.podOf(ctx, ordinal); {
	case err != nil:
		return fmt.Errorf("reading pod %s before deleting what its member had: %w", identity.PodName(e.set.Name, ordinal), err)
	case pod != nil:
		if !isWatched(pod) {
			e.term.memory.of(e.key).addUnlabeledPod(pod.Name)
		}
		return &staleRead{fmt.Errorf("pod %s of the removed member %w", pod.Name, errPodExists)}
	}
	return nil
}

// confirmDue makes sure that something is due by the clock of the host, which has just answered.
func (e *execution) confirmDue(due time.Time) error {
	switch now, known := e.term.hostTime(); {
	case !known:
		return errors.New("the answers of the host cluster do not say what time it is there: they lack the header Date")
	case now.Before(due):
		return &staleRead{fmt.Errorf("it is due at %s, and it is %s in the host cluster", due.Format(time.RFC3339), now.Format(time.RFC3339))}
	}
	return nil
}

// podOf is the pod of a member's name, whoever's, past the caches; nil if there is none.
func (e *execution) podOf(ctx context.Context, ordinal int) (*corev1.Pod, error) {
	pod, err := hostread.Again(ctx, e.term.Clock, func(ctx context.Context) (*corev1.Pod, error) {
		return e.term.Host.CoreV1().Pods(e.set.Namespace).Get(ctx, identity.PodName(e.set.Name, ordinal), metav1.GetOptions{})
	})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no pod is an answer
	}
	return pod, err
}

// confirmUnchanged makes sure that the set is what was decided on, past the caches.
func (e *execution) confirmUnchanged(ctx context.Context) error {
	live, err := e.term.liveSet(ctx, e.set)
	switch {
	case apierrors.IsNotFound(err):
		return &staleRead{err}
	case err != nil:
		return fmt.Errorf("reading set before deleting what it does not need any more: %w", err)
	case live.UID != e.set.UID || live.Generation != e.set.Generation || live.DeletionTimestamp != nil || held(live):
		return &staleRead{errors.New("the set has changed")}
	}
	return nil
}
