// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// handleEvents makes every event of a watched object wake the sets that it
// concerns. It must be called before the informers run.
func (t *term) handleEvents() {
	for kind, handler := range map[resource]cache.ResourceEventHandler{
		setsResource:      eventHandler(t, t.setsOfSet, t.setChanged),
		podsResource:      eventHandler(t, t.caches.setsOfPod, podChanged),
		claimsResource:    eventHandler(t, t.caches.setsOfClaim, claimChanged),
		revisionsResource: eventHandler(t, t.caches.setsOfRevision, revisionChanged),
	} {
		// It fails only for an informer that has stopped.
		_, _ = t.caches[kind].AddEventHandler(handler)
	}
}

// eventHandler enqueues the sets that an object concerns. A change of nothing that
// the planner reads wakes only those that wait to see their own write.
func eventHandler[T any](t *term, setsOf func(T) []cache.ObjectName, changed func(before, after T) bool) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if added, ok := object.(T); ok {
				t.enqueue(setsOf(added))
			}
		},
		UpdateFunc: func(object, newer any) {
			before, was := object.(T)
			after, is := newer.(T)
			if was && is && !changed(before, after) {
				t.enqueueWaiting(setsOf(after))
				return
			}
			// What is a stub concerns nobody.
			if was {
				t.enqueue(setsOf(before))
			}
			if is {
				t.enqueue(setsOf(after))
			}
		},
		DeleteFunc: func(object any) {
			if unseen, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unseen.Obj
			}
			if deleted, ok := object.(T); ok {
				t.enqueue(setsOf(deleted))
			}
		},
	}
}

func (t *term) enqueue(keys []cache.ObjectName) {
	for _, key := range keys {
		t.queue.Add(key)
	}
}

func (t *term) enqueueWaiting(keys []cache.ObjectName) {
	for _, key := range keys {
		if t.writes.awaited(key) {
			t.queue.Add(key)
		}
	}
}

// setsOfSet are the set itself and those whose claims have the same names, which may
// have waited for it to go.
func (t *term) setsOfSet(set *v1.StatefulSet) []cache.ObjectName {
	keys := []cache.ObjectName{cache.MetaObjectToName(set)}
	for i := range set.Spec.VolumeClaimTemplates {
		base := in(set, set.Spec.VolumeClaimTemplates[i].Name+"-"+set.Name)
		for _, other := range find[*v1.StatefulSet](t.caches, setsResource, byClaimBase, base) {
			keys = with(keys, other)
		}
	}
	return keys
}

// setsOfPod are the set that controls the pod and the one that the pod's name
// speaks of, which must know a pod that is in its way.
func (c caches) setsOfPod(pod *corev1.Pod) []cache.ObjectName {
	keys := c.setsThatControl(pod)
	if name, _, ok := identity.ParsePodName(pod.Name); ok {
		if set, ok := get[*v1.StatefulSet](c, setsResource, pod.Namespace, name); ok {
			keys = with(keys, set)
		}
	}
	return keys
}

// setsOfClaim are those that have a claim of this name: more than one if the names
// of templates and sets can be split in more ways than one.
func (c caches) setsOfClaim(claim *corev1.PersistentVolumeClaim) []cache.ObjectName {
	base, _, ok := identity.ParsePodName(claim.Name)
	if !ok {
		return nil
	}
	var keys []cache.ObjectName
	for _, set := range find[*v1.StatefulSet](c, setsResource, byClaimBase, in(claim, base)) {
		keys = with(keys, set)
	}
	return keys
}

// setsOfRevision are the set that controls the revision, those that could want its
// name, and those that could adopt it.
func (c caches) setsOfRevision(revision *appsv1.ControllerRevision) []cache.ObjectName {
	keys := c.setsThatControl(revision)
	if base, ok := baseOfRevision(revision.Name); ok {
		for _, set := range find[*v1.StatefulSet](c, setsResource, byRevisionBase, in(revision, base)) {
			keys = with(keys, set)
		}
	}
	if metav1.GetControllerOfNoCopy(revision) == nil {
		for _, set := range find[*v1.StatefulSet](c, setsResource, byNamespace, revision.Namespace) {
			if matches(set, revision.Labels) {
				keys = with(keys, set)
			}
		}
	}
	return keys
}

func (c caches) setsThatControl(object metav1.Object) []cache.ObjectName {
	var keys []cache.ObjectName
	for _, uid := range controllerUID(object) {
		for _, set := range find[*v1.StatefulSet](c, setsResource, byUID, uid) {
			keys = with(keys, set)
		}
	}
	return keys
}

func with(keys []cache.ObjectName, set *v1.StatefulSet) []cache.ObjectName {
	key := cache.MetaObjectToName(set)
	if slices.Contains(keys, key) {
		return keys
	}
	return append(keys, key)
}

// matches reports whether the set's selector matches; one that cannot be read
// matches nothing.
func matches(set *v1.StatefulSet, of map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(of))
}

// setChanged is false for the status that we wrote ourselves, unless it changed
// what the planner reads of a status: a completed update leaves a revision behind
// that may have to go.
func (t *term) setChanged(before, after *v1.StatefulSet) bool {
	return before.Status.CurrentRevision != after.Status.CurrentRevision ||
		!t.writes.isOwnStatus(cache.MetaObjectToName(after), after.ResourceVersion)
}

func podChanged(before, after *corev1.Pod) bool {
	return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Status, after.Status) ||
		metaChanged(before.ObjectMeta, after.ObjectMeta)
}

func claimChanged(before, after *corev1.PersistentVolumeClaim) bool {
	return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Status, after.Status) ||
		metaChanged(before.ObjectMeta, after.ObjectMeta)
}

func revisionChanged(before, after *appsv1.ControllerRevision) bool {
	return before.Revision != after.Revision || metaChanged(before.ObjectMeta, after.ObjectMeta)
}

func metaChanged(before, after metav1.ObjectMeta) bool {
	before.ResourceVersion = after.ResourceVersion
	return !equality.Semantic.DeepEqual(before, after)
}
