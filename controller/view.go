// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// view has the known objects, by kind: in a term what its informers show, in a preview what was
// read for it.
type view map[resource]cache.Indexer

// newView returns an empty view.
func newView(all kinds) view {
	v := view{}
	for i := range all {
		v[all[i].resource] = cache.NewIndexer(cache.MetaNamespaceKeyFunc, all[i].indexers())
	}
	return v
}

// put adds an object to a view that no informer fills.
func (v view) put(kind resource, object any) error {
	if err := v[kind].Add(object); err != nil {
		return fmt.Errorf("indexing %s: %w", kind, err)
	}
	return nil
}

// version is the resource version that the view of a kind has reached.
func (v view) version(kind resource) string { return v[kind].LastStoreSyncResourceVersion() }

// hasLive reports whether the view still has the object and does not know that it is terminating.
func (v view) hasLive(kind resource, namespace, name string, uid types.UID) bool {
	object, ok := get[metav1.Object](v, kind, namespace, name)
	return ok && object.GetUID() == uid && object.GetDeletionTimestamp() == nil
}

// get returns the object with a name, and false if the view has none.
func get[T any](v view, kind resource, namespace, name string) (T, bool) {
	object, ok, err := v[kind].GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil || !ok {
		var none T
		return none, false
	}
	typed, ok := object.(T)
	return typed, ok
}

// find returns the objects that an index has under a value.
func find[T any](v view, kind resource, index, value string) []T {
	objects, err := v[kind].ByIndex(index, value)
	if err != nil {
		panic(fmt.Sprintf("reading index %s of %s: %v", index, kind, err))
	}
	typed := make([]T, 0, len(objects))
	for _, object := range objects {
		if t, ok := object.(T); ok {
			typed = append(typed, t)
		}
	}
	return typed
}

// has reports whether an index has any object under a value.
func (v view) has(kind resource, index, value string) bool {
	keys, err := v[kind].IndexKeys(index, value)
	if err != nil {
		panic(fmt.Sprintf("reading index %s of %s: %v", index, kind, err))
	}
	return len(keys) > 0
}

// values are all values under which an index has objects.
func (v view) values(kind resource, index string) []string { return v[kind].ListIndexFuncValues(index) }

// world is what the planner may see of a set, as far as the view shows it.
func (v view) world(set *v1.StatefulSet, now time.Time) plan.World {
	pods := v.podsOf(set)
	claims := append(v.claimsOf(set), v.ownedClaims(set, pods)...)
	return plan.World{
		Set: set, Revisions: v.revisionsOf(set), Pods: pods, Claims: claims,
		ClaimsWithSecrets: v.claimsRecordingSecrets(set), Rivals: v.rivalsOf(set), Now: now}
}

func (v view) podsOf(set *v1.StatefulSet) []*corev1.Pod {
	return distinct(
		find[*corev1.Pod](v, podsResource, byController, string(set.UID)),
		find[*corev1.Pod](v, podsResource, byMemberOf, hostread.IndexKey(set, set.Name)),
	)
}

func (v view) revisionsOf(set *v1.StatefulSet) []*appsv1.ControllerRevision {
	var adoptable []*appsv1.ControllerRevision
	for _, revision := range find[*appsv1.ControllerRevision](v, revisionsResource, byOrphanage, set.Namespace) {
		if matches(set, revision.Labels) {
			adoptable = append(adoptable, revision)
		}
	}
	var taken []*appsv1.ControllerRevision
	for _, stub := range stubsOf[*stub](v, revisionsResource, hostread.IndexKey(set, identity.RevisionBase(set.Name)), baseOfRevision) {
		taken = append(taken, &appsv1.ControllerRevision{ObjectMeta: *stub.about()})
	}
	return distinct(
		find[*appsv1.ControllerRevision](v, revisionsResource, byController, string(set.UID)),
		find[*appsv1.ControllerRevision](v, revisionsResource, byRevisionBase, hostread.IndexKey(set, identity.RevisionBase(set.Name))),
		adoptable, taken,
	)
}

// claimsOf finds the claims with the names of members' claims, of any ordinal: the cost of the
// search does not depend on how many members a user requests.
func (v view) claimsOf(set *v1.StatefulSet) []*corev1.PersistentVolumeClaim {
	var claims []*corev1.PersistentVolumeClaim
	for _, base := range claimBases(set) {
		claims = append(claims, find[*corev1.PersistentVolumeClaim](v, claimsResource, byClaimBase, hostread.IndexKey(set, base))...)
	}
	return claims
}

// claimsRecordingSecrets finds the claims that record generated Secrets and may belong to claim
// templates that the set had earlier.
func (v view) claimsRecordingSecrets(set *v1.StatefulSet) []*corev1.PersistentVolumeClaim {
	return find[*corev1.PersistentVolumeClaim](v, claimsResource, byRecordedSecrets, hostread.IndexKey(set, set.Name))
}

// ownedClaims finds the claims that a set or its pods control, and that do not belong to the set's
// current claim templates.
func (v view) ownedClaims(set *v1.StatefulSet, pods []*corev1.Pod) (claims []*corev1.PersistentVolumeClaim) {
	add := func(owner string) {
		for _, claim := range find[*corev1.PersistentVolumeClaim](v, claimsResource, byClaimOwner, owner) {
			if _, _, present := identity.ParseClaimName(claim.Name, set.Name, set.Spec.VolumeClaimTemplates); !present {
				claims = append(claims, claim)
			}
		}
	}
	add(string(set.UID))
	for _, pod := range pods {
		add(string(pod.UID))
	}
	return claims
}

// rivalsOf finds older sets of the namespace whose claims have the same names as the set's.
func (v view) rivalsOf(set *v1.StatefulSet) map[string]string {
	var rivals map[string]string
	for i, base := range claimBases(set) {
		for _, other := range find[*v1.StatefulSet](v, setsResource, byClaimBase, hostread.IndexKey(set, base)) {
			if other.UID == set.UID || !older(other, set) {
				continue
			}
			if rivals == nil {
				rivals = map[string]string{}
			}
			rivals[set.Spec.VolumeClaimTemplates[i].Name] = other.Name
		}
	}
	return rivals
}

// older reports whether set a was created before set b. Sets that were created in the same second
// are ordered by name.
func older(a, b *v1.StatefulSet) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

// distinct joins lists of objects of one namespace and removes duplicates.
func distinct[T metav1.Object](lists ...[]T) []T {
	most := 0
	for _, list := range lists {
		most = max(most, len(list))
	}
	all := make([]T, 0, most)
	known := make(map[string]bool, most)
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
