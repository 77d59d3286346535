// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// updateInPlace changes a pod. If the cluster finds the change invalid, another attempt would fail
// as well. If the plan says so, the pod is then deleted: it is still the one that was decided on.
func (e *execution) updateInPlace(ctx context.Context, act action.UpdateInPlace) error {
	what := subject{kind: "pod", name: act.Pod.Name, why: " in place"}
	err := e.disrupt(ctx, act, act.Pod, what, change{
		labels: act.Labels, annotations: act.Annotations, images: act.Images, sidecars: act.Sidecars,
	})
	switch {
	case err == nil:
		e.recordSuccess(update, what)
		if _, restarts := act.Annotations[v1.InPlaceAnnotation]; !restarts {
			e.recordUpdated(act.Pod.Name, act.Revision)
		}
		return nil
	case act.Otherwise != nil && apierrors.IsInvalid(err):
		return e.recreate(ctx, *act.Otherwise)
	}
	return err
}

// resizePod changes the resources of a pod's containers. If the cluster cannot do that and the plan
// says so, the pod is deleted.
func (e *execution) resizePod(ctx context.Context, act action.ResizePod) error {
	what := subject{part: "resources of ", kind: "pod", name: act.Pod.Name, why: " in place"}
	err := e.disrupt(ctx, act, act.Pod, what, change{resources: act.Containers, sidecarResources: act.Sidecars})
	switch {
	case err == nil:
		e.recordSuccess(update, what)
		return nil
	case act.Otherwise != nil && isImpossible(err):
		return e.recreate(ctx, *act.Otherwise)
	}
	return err
}

// isImpossible reports whether another attempt to resize would get the same answer: the resize is
// invalid, or, from Kubernetes 1.36 on, forbidden because the node of the pod has too little
// capacity or cannot resize pods.
func isImpossible(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) &&
		(apierrors.HasStatusCause(err, "NodeCapacity") || apierrors.HasStatusCause(err, "UnsupportedPlatform"))
}

// recreate deletes a pod that the cluster does not allow to change.
func (e *execution) recreate(ctx context.Context, removal action.DeletePod) error {
	e.recordEvent(corev1.EventTypeWarning, v1.ReasonInPlaceFallback, "The cluster refused to update it in place, so it is recreated: ",
		subject{kind: "pod", name: removal.Pod.Name}, "")
	return e.deletePod(ctx, removal)
}

// endInPlace removes the annotation of an in-place update from a pod.
func (e *execution) endInPlace(ctx context.Context, act action.EndInPlace) error {
	what := subject{part: "annotation of ", kind: "pod", name: act.Pod.Name}
	err := e.change(ctx, podsResource, what, act.Pod, change{annotations: map[string]*string{v1.InPlaceAnnotation: nil}})
	if err == nil {
		e.recordUpdated(act.Pod.Name, act.Revision)
	}
	return err
}

// recordUpdated records the event that a pod has been updated to a revision.
func (e *execution) recordUpdated(pod, revision string) {
	e.recordEvent(corev1.EventTypeNormal, v1.ReasonMemberUpdatedInPlace, "Updated in place: ", subject{kind: "pod", name: pod},
		", to revision "+revision)
}
