// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package forecast

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// inPlaceForecasts are those of TestForecasts in which pods are changed in place.
func inPlaceForecasts() map[string]func(t *testing.T) *v1.StatefulSetPlan {
	return map[string]func(t *testing.T) *v1.StatefulSetPlan{
		"in-place": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.Template.Labels = map[string]string{"app": "web", "tier": "gold"}
				set.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.IfPossibleInPlaceUpdatePolicyType}
			}))
		},
		"resized-in-place": func(t *testing.T) *v1.StatefulSetPlan {
			set := web()
			set.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			world := settled(t, set)
			world.Resizes = true
			return played(t, proposed(world, func(set *v1.StatefulSet) {
				set.Spec.Replicas = new(int32(2))
				set.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
				set.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.IfPossibleInPlaceUpdatePolicyType}
			}))
		},
		"in-place-of-a-broken-pod": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(breakPod(settled(t, web()), "web-2"), func(set *v1.StatefulSet) {
				newImage(set)
				set.Spec.PodManagementPolicy = v1.ParallelPodManagement
				set.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType}
			}))
		},
		"not-in-place": func(t *testing.T) *v1.StatefulSetPlan {
			return played(t, proposed(settled(t, web()), func(set *v1.StatefulSet) {
				set.Spec.Template.Spec.Containers[0].Args = []string{"--fast"}
				set.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType}
			}))
		},
		"drained": func(t *testing.T) *v1.StatefulSetPlan {
			set := web()
			set.Spec.Replicas = new(int32(2))
			set.Spec.UpdateStrategy.RollingUpdate.InPlace = &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType, DrainSeconds: new(int32(20))}
			world := plan.World{Set: set, Now: noon, SetsConditions: true}
			world = proposed(settledFrom(t, world), newImage)
			world.Now = world.Now.Add(600 * time.Millisecond)
			return played(t, world)
		},
	}
}
