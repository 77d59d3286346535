// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// observe gathers what the planner may see of a set.
func (t *term) observe(ctx context.Context, set *v1.StatefulSet) (plan.World, error) {
	hidden, err := t.readHidden(ctx, cache.MetaObjectToName(set))
	if err != nil {
		return plan.World{}, err
	}
	pods := append(t.caches.podsOf(set), hidden...)
	return plan.World{
		Set:       set,
		Revisions: t.caches.revisionsOf(set),
		Pods:      pods,
		Claims:    t.caches.claimsOf(set, pods),
		Now:       t.Clock.Now(),
	}, nil
}

func (c caches) podsOf(set *v1.StatefulSet) []*corev1.Pod {
	return distinct(
		find[*corev1.Pod](c, podsResource, byController, string(set.UID)),
		find[*corev1.Pod](c, podsResource, byMemberOf, in(set, set.Name)),
	)
}

func (c caches) revisionsOf(set *v1.StatefulSet) []*appsv1.ControllerRevision {
	var adoptable []*appsv1.ControllerRevision
	for _, revision := range find[*appsv1.ControllerRevision](c, revisionsResource, byOrphanage, set.Namespace) {
		if matches(set, revision.Labels) {
			adoptable = append(adoptable, revision)
		}
	}
	return distinct(
		find[*appsv1.ControllerRevision](c, revisionsResource, byController, string(set.UID)),
		find[*appsv1.ControllerRevision](c, revisionsResource, byRevisionBase, in(set, revisionBase(set.Name))),
		adoptable,
	)
}

// claimsOf looks up the claims of the wanted members and of those that have a pod.
func (c caches) claimsOf(set *v1.StatefulSet, pods []*corev1.Pod) []*corev1.PersistentVolumeClaim {
	if len(set.Spec.VolumeClaimTemplates) == 0 {
		return nil
	}
	first, end := identity.Ordinals(set)
	ordinals := make([]int, 0, end-first)
	for ordinal := first; ordinal < end; ordinal++ {
		ordinals = append(ordinals, ordinal)
	}
	for _, pod := range pods {
		name, ordinal, ok := identity.ParsePodName(pod.Name)
		if ok && name == set.Name && (ordinal < first || ordinal >= end) {
			ordinals = append(ordinals, ordinal)
		}
	}
	var claims []*corev1.PersistentVolumeClaim
	for _, ordinal := range ordinals {
		for i := range set.Spec.VolumeClaimTemplates {
			name := identity.ClaimName(set.Spec.VolumeClaimTemplates[i].Name, set.Name, ordinal)
			if claim, ok := get[*corev1.PersistentVolumeClaim](c, claimsResource, set.Namespace, name); ok {
				claims = append(claims, claim)
			}
		}
	}
	return claims
}

// hasLive reports whether the cache still has the object and does not know that it
// is about to go.
func (c caches) hasLive(kind resource, namespace, name string, uid types.UID) bool {
	object, ok := get[metav1.Object](c, kind, namespace, name)
	return ok && object.GetUID() == uid && object.GetDeletionTimestamp() == nil
}

// distinct joins lists of objects of one namespace and drops repetitions.
func distinct[T metav1.Object](lists ...[]T) []T {
	var all []T
	known := map[string]bool{}
	for _, list := range lists {
		for _, object := range list {
			if !known[object.GetName()] {
				known[object.GetName()] = true
				all = append(all, object)
			}
		}
	}
	return all
}
