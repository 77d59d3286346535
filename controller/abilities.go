// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// abilities are what a host can do that not every host can, or lets the controller do. It is asked
// when that matters to a set for the first time, and not again, unless a right is missing: somebody
// may give it.
type abilities struct {
	host kubernetes.Interface

	mu      sync.Mutex
	resizes *bool
	// setsConditions is true once the host has said that conditions of pods may be set; until
	// then, it is asked again after refusedUntil.
	setsConditions bool
	refusedUntil   time.Time
}

// refusedFor is for how long a right that is missing is taken to be so. It is less than the planner
// waits for it.
const refusedFor = 30 * time.Second

// tell completes a world with what the host can do, as far as the set asks for it.
func (a *abilities) tell(ctx context.Context, world *plan.World) (err error) {
	if !updatesInPlace(world) {
		return nil
	}
	if world.Resizes, err = a.resizesPods(ctx); err != nil {
		return err
	}
	if setsConditions(world.Set) {
		world.SetsConditions, err = a.setsConditionsOfPods(ctx, world.Now)
	}
	return err
}

// setsConditions reports whether a set has conditions of its pods set to update them in place.
func setsConditions(set *v1.StatefulSet) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	return rolling != nil && rolling.InPlace != nil && (rolling.InPlace.DrainSeconds != nil ||
		slices.ContainsFunc(rolling.Steps, func(step v1.RolloutStep) bool { return len(step.PodConditions) > 0 }))
}

// updatesInPlace reports whether members of a set are updated in place, or have been a moment ago.
func updatesInPlace(world *plan.World) bool {
	rolling := world.Set.Spec.UpdateStrategy.RollingUpdate
	return rolling != nil && rolling.InPlace != nil || slices.ContainsFunc(world.Pods, func(pod *corev1.Pod) bool {
		return pod.Annotations[v1.InPlaceAnnotation] != ""
	})
}

// resizesPods reports whether the host changes the resources of pods that are there. A host that
// does not say is not taken for one that does not: members would be recreated.
func (a *abilities) resizesPods(ctx context.Context) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.resizes != nil {
		return *a.resizes, nil
	}
	served, err := discovery.ToServerResourcesInterfaceWithContext(a.host.Discovery()).ServerResourcesForGroupVersionWithContext(ctx, "v1")
	if apierrors.IsNotFound(err) {
		served, err = &metav1.APIResourceList{}, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking the host whether it resizes pods: %w", err)
	}
	resizes := slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == "pods/resize" })
	a.resizes = &resizes
	return resizes, nil
}

// setsConditionsOfPods reports whether the controller has the right to set conditions of pods, in all
// namespaces.
func (a *abilities) setsConditionsOfPods(ctx context.Context, now time.Time) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.setsConditions || now.Before(a.refusedUntil) {
		return a.setsConditions, nil
	}
	review, err := a.host.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "patch", Resource: "pods", Subresource: "status"}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("asking the host whether the controller may patch pods/status: %w", err)
	}
	if a.setsConditions = review.Status.Allowed; !a.setsConditions {
		a.refusedUntil = now.Add(refusedFor)
	}
	return a.setsConditions, nil
}
