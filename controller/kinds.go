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

// resource names one kind of object that we watch and write.
type resource string

const (
	setsResource      resource = "statefulsets"
	podsResource      resource = "pods"
	claimsResource    resource = "persistentvolumeclaims"
	revisionsResource resource = "controllerrevisions"
)

// kind is what the controller has to know of one kind of object. All else is the same
// for all kinds: an informer runs, its events wake the sets that an object concerns, and
// what is written is waited for until the informer shows it.
type kind struct {
	// resource and group are those of the host's API, and noun is the word for people.
	resource resource
	group    string
	noun     string
	// inform builds the informer that the term runs. It selects by label where there is
	// a label that all members' objects have.
	inform func() cache.SharedIndexInformer
	// selector is the same selection for who lists, and page how many are listed at a time.
	selector string
	page     int64
	// trim returns what the caches keep of an object: what the planner reads, what an
	// event is resolved by, and what a write is conditioned on. Of what can be no set's,
	// or no present one's, it keeps a stub.
	trim func(v view, object any) any
	// indexes are what objects are found by.
	indexes cache.Indexers
	// controlled is true for what a set controls by an owner reference, and adopts and
	// releases. The set that controls it is found by it, and it by that set.
	controlled bool
	// concerns are the sets that an object concerns besides the one that controls it.
	concerns func(v view, object metav1.Object) []*v1.StatefulSet
	// changed reports whether two states of an object are different for the planner.
	changed func(memory *memory, before, after any) bool
	// endpoint is how the host is asked for objects and told to change them. What it
	// cannot do is never done.
	endpoint
}

// kinds is the table of them. A kind that is in it needs no line elsewhere but where the
// planner's world is put together, and where its actions are carried out. Not in it is what
// is watched only while something asks for it: the objects that sets describe, which may be
// of any kind (objects.go), and quotas (quotas.go). No other set waits for these.
type kinds []kind

// watchedKinds are the sets and what belongs to them in the host.
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

// indexers are the kind's own indexes and those that its row asks for.
func (k *kind) indexers() cache.Indexers {
	all := cache.Indexers{}
	if k.controlled {
		all[byController] = hostread.IndexBy(controllerUID)
	}
	maps.Copy(all, k.indexes)
	return all
}

// setsOf are the names of the sets that an object concerns.
func (k *kind) setsOf(v view, object any) []cache.ObjectName {
	switch s := object.(type) {
	case *stub:
		return nil
	case *unread:
		object = s.about()
	}
	about, ok := object.(metav1.Object)
	if !ok {
		return nil
	}
	var keys []cache.ObjectName
	if k.controlled {
		for _, uid := range controllerUID(about) {
			keys = with(keys, find[*v1.StatefulSet](v, setsResource, byUID, uid))
		}
	}
	return with(keys, k.concerns(v, about))
}

// trimmed makes a function of one type one of any. What is of another type stays as it is.
func trimmed[T any](trim func(v view, object T) any) func(v view, object any) any {
	return func(v view, object any) any {
		if typed, ok := object.(T); ok {
			return trim(v, typed)
		}
		return object
	}
}

// differing makes a comparison of one type one of any. A stub that stays one is the
// same; what becomes one, or was one, is not.
func differing[T any](differ func(before, after T) bool) func(memory *memory, before, after any) bool {
	return func(_ *memory, before, after any) bool {
		b, was := before.(T)
		a, is := after.(T)
		if was && is {
			return differ(b, a)
		}
		return was || is
	}
}
