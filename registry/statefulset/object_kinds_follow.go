// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

// LimitKinds refuses writes that add a kind of objects to those that all stored sets describe, if there are as
// many as the controller watches. follow keeps count until its context ends; until it runs, such writes are
// refused for now.
func (s Storage) LimitKinds() (follow func(ctx context.Context)) {
	kinds := newObjectKinds()
	s.StatefulSet.kinds = kinds
	reflector := cache.NewReflectorWithOptions(
		cache.ToListWatcherWithWatchListSemantics(storedSets(s.StatefulSet.Store), listsOnly{}), nil, kinds,
		cache.ReflectorOptions{Name: "object-kinds", TypeDescription: v1.Kind})
	return reflector.RunWithContext
}

// listsOnly has the sets listed, and not streamed, before they are watched.
type listsOnly struct{}

func (listsOnly) IsWatchListSemanticsUnSupported() bool { return true }

// storedSets reads all sets without a request.
func storedSets(store *genericregistry.Store) *cache.ListWatch {
	options := func(o metav1.ListOptions) *metainternalversion.ListOptions {
		return &metainternalversion.ListOptions{
			ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch,
			Limit: o.Limit, Continue: o.Continue, AllowWatchBookmarks: o.AllowWatchBookmarks,
		}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return store.List(ctx, options(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return store.Watch(ctx, options(o))
		},
	}
}

// claim is what a write adds to the kinds of objects, nil if these are not limited.
func (r *REST) claim() *kindClaim {
	if r.kinds == nil {
		return nil
	}
	return &kindClaim{of: r.kinds}
}

// create checks a new set after admission has let it through.
func (c *kindClaim) create(admit rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	if c == nil {
		return admit
	}
	return func(ctx context.Context, obj runtime.Object) error {
		if err := admit(ctx, obj); err != nil {
			return err
		}
		return c.check(ctx, obj.(*v1.StatefulSet), nil)
	}
}

// update checks a changed set after admission has let it through.
func (c *kindClaim) update(admit rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	if c == nil {
		return admit
	}
	return func(ctx context.Context, obj, old runtime.Object) error {
		if err := admit(ctx, obj, old); err != nil {
			return err
		}
		return c.check(ctx, obj.(*v1.StatefulSet), old.(*v1.StatefulSet))
	}
}

// end gives back what was claimed, after a set that was stored counts by itself.
func (c *kindClaim) end(stored runtime.Object, dryRun []string, err error) {
	if c == nil {
		return
	}
	if set, ok := stored.(*v1.StatefulSet); ok && err == nil && !dryrun.IsDryRun(dryRun) {
		c.of.wrote(set)
	}
	c.release()
}
