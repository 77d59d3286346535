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

// updateInPlace changes a pod. If the host finds the change invalid, which another try
// would not alter, the pod is removed, where the plan says so: it is still the one that
// was decided on.
func (e *execution) updateInPlace(ctx context.Context, act action.UpdateInPlace) error {
	what := subject{kind: "pod", name: act.Pod.Name, why: " in place"}
	err := e.disrupt(ctx, act, act.Pod, what, change{
		labels: act.Labels, annotations: act.Annotations, images: act.Images, sidecars: act.Sidecars,
	})
	switch {
	case err == nil:
		e.tellSuccess(update, what)
		if _, restarts := act.Annotations[v1.InPlaceAnnotation]; !restarts {
			e.tellUpdated(act.Pod.Name, act.Revision)
		}
		return nil
	case act.Otherwise != nil && apierrors.IsInvalid(err):
		return e.recreate(ctx, *act.Otherwise)
	}
	return err
}

// resizePod gives containers of a pod other resources. If the host says that this cannot be, the
// pod is removed, where the plan says so.
func (e *execution) resizePod(ctx context.Context, act action.ResizePod) error {
	what := subject{part: "resources of ", kind: "pod", name: act.Pod.Name, why: " in place"}
	err := e.disrupt(ctx, act, act.Pod, what, change{resources: act.Containers, sidecarResources: act.Sidecars})
	switch {
	case err == nil:
		e.tellSuccess(update, what)
		return nil
	case act.Otherwise != nil && isImpossible(err):
		return e.recreate(ctx, *act.Otherwise)
	}
	return err
}

// isImpossible reports whether the host says of a resize that another try would get the same
// answer: it is invalid, or, from Kubernetes 1.36 on, forbidden because the node of the pod does
// not have so much, or resizes no pods.
func isImpossible(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) &&
		(apierrors.HasStatusCause(err, "NodeCapacity") || apierrors.HasStatusCause(err, "UnsupportedPlatform"))
}

// recreate removes a pod that the host does not let be changed.
func (e *execution) recreate(ctx context.Context, removal action.DeletePod) error {
	e.note(corev1.EventTypeWarning, v1.ReasonInPlaceFallback, "The host does not let it be updated in place, so it is recreated: ",
		subject{kind: "pod", name: removal.Pod.Name}, "")
	return e.deletePod(ctx, removal)
}

// endInPlace removes from a pod what was noted of its update.
func (e *execution) endInPlace(ctx context.Context, act action.EndInPlace) error {
	what := subject{part: "annotation of ", kind: "pod", name: act.Pod.Name}
	err := e.change(ctx, podsResource, what, act.Pod, change{annotations: map[string]*string{v1.InPlaceAnnotation: nil}})
	if err == nil {
		e.tellUpdated(act.Pod.Name, act.Revision)
	}
	return err
}

// tellUpdated notes that a pod has all of another revision.
func (e *execution) tellUpdated(pod, revision string) {
	e.note(corev1.EventTypeNormal, v1.ReasonMemberUpdatedInPlace, "Updated in place: ", subject{kind: "pod", name: pod},
		", to revision "+revision)
}
