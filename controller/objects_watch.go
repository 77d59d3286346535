// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
)

// bySet finds objects by the set that they are labelled with.
const bySet = "set"

// objectsResource stands for any kind of objects in a view of its own.
const objectsResource resource = "objects"

// objectWatch is the watch of a kind of objects in a namespace, or in all of them. Each has a cache of its own: what
// one has listed says nothing about another one.
type objectWatch struct {
	*objectKind

	// namespace is the one that is watched, empty for all.
	namespace string
	// end ends the watch.
	end func()

	watchMu  sync.Mutex
	informer cache.SharedIndexInformer
	// denied says why objects cannot be watched, empty if they can, or that is not known yet.
	denied string
}

// follow fills the cache until the context ends, from when the host has said what it calls the kind.
func (w *objectWatch) follow(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-w.found:
	}
	if at, ok := w.at(w.kind.Version); ok {
		w.watch(ctx, at.Resource)
	}
}

func (w *objectWatch) watch(ctx context.Context, resource string) {
	objects := w.Objects.Metadata.Resource(w.kind.GroupVersion().WithResource(resource)).Namespace(w.namespace)
	lists := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			hostread.Selecting(v1.ObjectSetLabel)(&options)
			list, err := objects.List(ctx, options)
			w.answered(err)
			return list, err //nolint:wrapcheck // the informer reads it
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			hostread.Selecting(v1.ObjectSetLabel)(&options)
			stream, err := objects.Watch(ctx, options)
			w.answered(err)
			return stream, err //nolint:wrapcheck // the informer reads it
		},
	}
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lists, w.Objects.Metadata), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{
		bySet: hostread.IndexBy(func(object *tracked) []string {
			return []string{hostread.Named(object, object.Labels[v1.ObjectSetLabel])}
		}),
	})
	// Neither fails before the informer runs.
	_ = informer.SetTransform(func(object any) (any, error) { return track(object), nil })
	handler, _ := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { w.happened(nil, object) },
		UpdateFunc: func(before, after any) {
			w.happened(before, after)
		},
		DeleteFunc: func(object any) { w.happened(nil, hostread.LastState(object)) },
	})
	w.watchMu.Lock()
	w.informer = informer
	w.watchMu.Unlock()
	w.running(ctx, informer, handler)
}

// running runs the informer, and wakes the sets that wait for its first list.
func (w *objectWatch) running(ctx context.Context, informer cache.SharedIndexInformer, handler cache.ResourceEventHandlerRegistration) {
	var listed sync.WaitGroup
	defer listed.Wait()
	listed.Go(func() {
		if handler == nil || cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			w.wake()
		}
	})
	informer.RunWithContext(ctx)
}

// answered notes whether the host lets objects be watched.
func (w *objectWatch) answered(err error) {
	if noteUnwatchable(err, &w.watchMu, &w.denied) {
		w.wake()
	}
}

// wake has the sets looked at that need the watch.
func (w *objectWatch) wake() { w.objects.wake(w.kind.GroupKind(), w.namespace) }

// state says whether all objects of the kind are known that a set of the namespace may have, and show what was
// written for it.
func (w *objectWatch) state(known *memo) plan.Kind {
	if refused := w.lacks(); refused != "" {
		return plan.Kind{Refused: refused}
	}
	w.watchMu.Lock()
	defer w.watchMu.Unlock()
	switch {
	case w.denied != "":
		return plan.Kind{Refused: w.denied}
	case w.informer == nil || !w.informer.HasSynced():
		return plan.Kind{}
	default:
		return plan.Kind{Known: known.showsObjects(w.kind.GroupKind(), w.informer.GetIndexer().LastStoreSyncResourceVersion())}
	}
}

// happened wakes the set of an object that has changed.
func (w *objectWatch) happened(before, after any) {
	object, ok := after.(*tracked)
	if !ok {
		return
	}
	keys := []cache.ObjectName{{Namespace: object.Namespace, Name: object.Labels[v1.ObjectSetLabel]}}
	earlier, was := before.(*tracked)
	if was && earlier.Labels[v1.ObjectSetLabel] != keys[0].Name {
		keys = append(keys, cache.ObjectName{Namespace: object.Namespace, Name: earlier.Labels[v1.ObjectSetLabel]})
	}
	for _, key := range keys {
		if _, exists := get[*v1.StatefulSet](w.view, setsResource, key.Namespace, key.Name); !exists {
			continue
		}
		if known := w.memory.find(key); !was || earlier.differs(object) || known.awaitsObjects() || known.awaitsOutputs(w.key(object)) {
			w.queue.Add(key)
		}
	}
}

// ofSet are the objects that are labelled with a set.
func (w *objectWatch) ofSet(set cache.ObjectName) []*tracked {
	return find[*tracked](view{objectsResource: w.informer.GetIndexer()}, objectsResource, bySet, set.String())
}

// named is the object of a name, whosever it is, and false if the cache has none.
func (w *objectWatch) named(namespace, name string) (*tracked, bool) {
	return get[*tracked](view{objectsResource: w.informer.GetIndexer()}, objectsResource, namespace, name)
}
