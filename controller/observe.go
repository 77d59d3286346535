// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	revisions := t.caches.revisionsOf(set)
	unseen, err := t.readRevisions(ctx, set, missingRevisions(set, pods, revisions))
	if err != nil {
		return plan.World{}, err
	}
	return plan.World{
		Set:       set,
		Revisions: append(revisions, unseen...),
		Pods:      pods,
		Claims:    t.caches.claimsOf(set),
		Rivals:    t.caches.rivalsOf(set),
		Records:   t.records.of(cache.MetaObjectToName(set)),
		Now:       t.Clock.Now(),
	}, nil
}

// missingRevisions are the names of the revisions that the set's pods have, or its
// status names as the current one, and that are not among those found. Pods and
// revisions reach the caches on different ways: a set that takes over the pods of
// another must not decide on them before it knows their revisions.
func missingRevisions(set *v1.StatefulSet, pods []*corev1.Pod, found []*appsv1.ControllerRevision) []string {
	known := map[string]bool{"": true}
	for _, revision := range found {
		known[revision.Name] = true
	}
	var missing []string
	note := func(name string) {
		if !known[name] {
			known[name] = true
			missing = append(missing, name)
		}
	}
	note(set.Status.CurrentRevision)
	for _, pod := range pods {
		if controller := metav1.GetControllerOfNoCopy(pod); controller == nil || controller.UID == set.UID {
			note(pod.Labels[identity.RevisionLabel])
		}
	}
	return missing
}

// readRevisions reads revisions past the cache; those that do not exist are left out.
func (t *term) readRevisions(ctx context.Context, set *v1.StatefulSet, names []string) ([]*appsv1.ControllerRevision, error) {
	var all []*appsv1.ControllerRevision
	for _, name := range names {
		revision, err := t.host.revision(ctx, set.Namespace, name)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		default:
			all = append(all, revision)
		}
	}
	return all, nil
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
	var taken []*appsv1.ControllerRevision
	for _, stub := range find[*stub](c, revisionsResource, byRevisionBase, in(set, revisionBase(set.Name))) {
		taken = append(taken, stub.revision())
	}
	return distinct(
		find[*appsv1.ControllerRevision](c, revisionsResource, byController, string(set.UID)),
		find[*appsv1.ControllerRevision](c, revisionsResource, byRevisionBase, in(set, revisionBase(set.Name))),
		adoptable, taken,
	)
}

// claimsOf finds the claims that have the names of members' claims, whatever their
// ordinals: how many members a user asks for does not matter to the search.
func (c caches) claimsOf(set *v1.StatefulSet) []*corev1.PersistentVolumeClaim {
	var claims []*corev1.PersistentVolumeClaim
	for i := range set.Spec.VolumeClaimTemplates {
		base := set.Spec.VolumeClaimTemplates[i].Name + "-" + set.Name
		claims = append(claims, find[*corev1.PersistentVolumeClaim](c, claimsResource, byClaimBase, in(set, base))...)
	}
	return claims
}

// rivalsOf finds older sets of the namespace whose claims have the names of the set's.
func (c caches) rivalsOf(set *v1.StatefulSet) map[string]string {
	var rivals map[string]string
	for i := range set.Spec.VolumeClaimTemplates {
		template := set.Spec.VolumeClaimTemplates[i].Name
		for _, other := range find[*v1.StatefulSet](c, setsResource, byClaimBase, in(set, template+"-"+set.Name)) {
			if other.UID == set.UID || !older(other, set) {
				continue
			}
			if rivals == nil {
				rivals = map[string]string{}
			}
			rivals[template] = other.Name
		}
	}
	return rivals
}

// older reports which of two sets came first; of two that came in the same second,
// the one whose name does.
func older(a, b *v1.StatefulSet) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
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
