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

// capabilities are features that not every host cluster has, or that the controller may lack the
// permission for. The controller asks the cluster when a set first needs one, and remembers the
// answer. It asks again only about a missing permission, because a user may grant it.
type capabilities struct {
	host kubernetes.Interface

	mu      sync.Mutex
	resizes *bool
	// canSetConditions is true once the cluster has confirmed that the controller may set
	// conditions of pods. Until then, the controller asks again after refusedUntil.
	canSetConditions bool
	refusedUntil     time.Time
}

// refusedFor is how long the controller relies on the answer that it lacks a permission. The
// planner waits longer than that for the permission.
const refusedFor = 30 * time.Second

// addTo completes a world with the capabilities of the cluster that the set needs.
func (a *capabilities) addTo(ctx context.Context, world *plan.World) (err error) {
	if !updatesInPlace(world) {
		return nil
	}
	if world.Resizes, err = a.resizesPods(ctx); err != nil {
		return err
	}
	if needsPodConditions(world.Set) {
		world.SetsConditions, err = a.setsConditionsOfPods(ctx, world.Now)
	}
	return err
}

// needsPodConditions reports whether the controller sets conditions of a set's pods to update them
// in place.
func needsPodConditions(set *v1.StatefulSet) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	return rolling != nil && rolling.InPlace != nil && (rolling.InPlace.DrainSeconds != nil ||
		slices.ContainsFunc(rolling.Steps, func(step v1.RolloutStep) bool { return len(step.PodConditions) > 0 }))
}

// updatesInPlace reports whether a set updates members in place, or did so a moment ago.
func updatesInPlace(world *plan.World) bool {
	rolling := world.Set.Spec.UpdateStrategy.RollingUpdate
	return rolling != nil && rolling.InPlace != nil || slices.ContainsFunc(world.Pods, func(pod *corev1.Pod) bool {
		return pod.Annotations[v1.InPlaceAnnotation] != ""
	})
}

// resizesPods reports whether the cluster can change the resources of existing pods. If the cluster
// does not answer, the result is an error and not false, because false would recreate members.
func (a *capabilities) resizesPods(ctx context.Context) (bool, error) {
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
		return false, fmt.Errorf("checking whether the host cluster can resize pods: %w", err)
	}
	resizes := slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == "pods/resize" })
	a.resizes = &resizes
	return resizes, nil
}

// setsConditionsOfPods reports whether the controller may set conditions of pods in all namespaces.
func (a *capabilities) setsConditionsOfPods(ctx context.Context, now time.Time) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.canSetConditions || now.Before(a.refusedUntil) {
		return a.canSetConditions, nil
	}
	review, err := a.host.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "patch", Resource: "pods", Subresource: "status"}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("checking whether the controller may patch pods/status: %w", err)
	}
	if a.canSetConditions = review.Status.Allowed; !a.canSetConditions {
		a.refusedUntil = now.Add(refusedFor)
	}
	return a.canSetConditions, nil
}
