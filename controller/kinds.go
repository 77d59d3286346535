// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/controller/hostread"
)

// resource names one kind of object that the controller watches and writes.
type resource string

const (
	setsResource      resource = "statefulsets"
	podsResource      resource = "pods"
	claimsResource    resource = "persistentvolumeclaims"
	revisionsResource resource = "controllerrevisions"
)

// kind is what the controller must know about one kind of object. All else is the same for all
// kinds: an informer runs, its events wake the sets that an object concerns, and after a write the
// controller waits until the informer shows it.
type kind struct {
	// resource and group are those of the API, and noun is the word in messages.
	resource resource
	group    string
	noun     string
	// newInformer builds the informer that the term runs. It selects by label if all members'
	// objects have a common label.
	newInformer func() cache.SharedIndexInformer
	// selector is the same selection for lists, and page how many objects are listed at a time.
	selector string
	page     int64
	// trim returns what the caches keep of an object: what the planner reads, what resolves an
	// event to sets, and the preconditions of a write. Of an object that no existing set can use,
	// it keeps a stub.
	trim func(v view, object any) any
	// indexes are the indexes to find objects.
	indexes cache.Indexers
	// controlled is true for a kind that a set controls by an owner reference, and adopts and
	// releases. An owner reference then leads from the object to the set, and an index from the set
	// to the object.
	controlled bool
	// concerns returns the sets that an object concerns, except the set that controls it.
	concerns func(v view, object metav1.Object) []*v1.StatefulSet
	// changed reports whether two states of an object differ for the planner.
	changed func(memory *setStates, before, after any) bool
	// endpoint has the requests for objects of this kind. Other requests are never sent.
	endpoint
}

// kinds is the table of kinds. A new kind needs code elsewhere only where the planner's world is
// put together, and where its actions are carried out. Two sorts of objects are watched only while
// something needs them, and are not in the table: the objects that sets describe, which may be of
// any kind (objects.go), and quotas (quotas.go). No other set waits for these.
type kinds []kind

// watchedKinds are the sets, and the objects of sets in the host cluster.
func watchedKinds(host kubernetes.Interface, sets versioned.Interface) kinds {
	return kinds{setsKind(sets), podsKind(host), claimsKind(host), revisionsKind(host)}
}

func (all kinds) of(named resource) *kind {
	for i := range all {
		if all[i].resource == named {
			return &all[i]
		}
	}
	panic(fmt.Sprintf("no kind of object is named %s", named))
}

// indexers are the indexes that all such kinds have, and those of the kind's row.
func (k *kind) indexers() cache.Indexers {
	all := cache.Indexers{}
	if k.controlled {
		all[byController] = hostread.IndexBy(controllerUID)
	}
	maps.Copy(all, k.indexes)
	return all
}

// setsOf are the keys of the sets that an object concerns.
func (k *kind) setsOf(v view, object any) []cache.ObjectName {
	switch s := object.(type) {
	case *stub:
		return nil
	case *usableStub:
		object = s.about()
	}
	about, ok := object.(metav1.Object)
	if !ok {
		return nil
	}
	var keys []cache.ObjectName
	if k.controlled {
		for _, uid := range controllerUID(about) {
			keys = appendKeys(keys, find[*v1.StatefulSet](v, setsResource, byUID, uid))
		}
	}
	return appendKeys(keys, k.concerns(v, about))
}

// trimmed makes a function for one type a function for any type. Objects of other types stay
// unchanged.
func trimmed[T any](trim func(v view, object T) any) func(v view, object any) any {
	return func(v view, object any) any {
		if typed, ok := object.(T); ok {
			return trim(v, typed)
		}
		return object
	}
}

// differing makes a comparison for one type a comparison for any type. Two stubs are equal; a stub
// and an object are not.
func differing[T any](differ func(before, after T) bool) func(memory *setStates, before, after any) bool {
	return func(_ *setStates, before, after any) bool {
		b, was := before.(T)
		a, is := after.(T)
		if was && is {
			return differ(b, a)
		}
		return was || is
	}
}
