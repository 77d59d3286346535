// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// abilities are what a host can do that not every host can. It is asked when that matters to a
// set for the first time, and not again.
type abilities struct {
	host kubernetes.Interface

	mu      sync.Mutex
	resizes *bool
}

// tell completes a world with what the host can do, as far as the set asks for it.
func (a *abilities) tell(ctx context.Context, world *plan.World) (err error) {
	if updatesInPlace(world) {
		world.Resizes, err = a.resizesPods(ctx)
	}
	return err
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
