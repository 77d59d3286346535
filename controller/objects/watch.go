// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
)

// bySet finds objects by the set that their label names.
const bySet = "set"

// namespaceWatch is the watch of a kind of objects in one namespace, or in all. Each watch has its
// own cache: the list of one says nothing about another.
type namespaceWatch struct {
	kind *kind

	// namespace is the watched namespace, empty for all.
	namespace string
	// end ends the watch.
	end func()

	watchMu  sync.Mutex
	informer cache.SharedIndexInformer
	// denied says why objects cannot be watched. It is empty if they can, or if that is not known
	// yet.
	denied string
}

// follow fills the cache until the context ends, once the resource name of the kind is known.
func (w *namespaceWatch) follow(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-w.kind.found:
	}
	if at, ok := w.kind.gvr(w.kind.gvk.Version); ok {
		w.fill(ctx, at.Resource)
	}
}

func (w *namespaceWatch) fill(ctx context.Context, resource string) {
	client := w.kind.watcher.config.Clients.Metadata
	objects := client.Resource(w.kind.gvk.GroupVersion().WithResource(resource)).Namespace(w.namespace)
	lists := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			hostread.SelectLabel(v1.ObjectSetLabel)(&options)
			list, err := objects.List(ctx, options)
			w.answered(err)
			return list, err //nolint:wrapcheck // the informer reads it
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			hostread.SelectLabel(v1.ObjectSetLabel)(&options)
			stream, err := objects.Watch(ctx, options)
			w.answered(err)
			return stream, err //nolint:wrapcheck // the informer reads it
		},
	}
	listWatcher := cache.ToListWatcherWithWatchListSemantics(lists, client)
	informer := cache.NewSharedIndexInformer(listWatcher, &metav1.PartialObjectMetadata{}, 0, cache.Indexers{
		bySet: hostread.IndexBy(func(object *tracked) []string {
			return []string{hostread.IndexKey(object, object.Labels[v1.ObjectSetLabel])}
		}),
	})
	// These cannot fail before the informer runs.
	_ = informer.SetTransform(func(object any) (any, error) { return track(object), nil })
	handler, _ := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { w.handleEvent(nil, object) },
		UpdateFunc: func(before, after any) {
			w.handleEvent(before, after)
		},
		DeleteFunc: func(object any) { w.handleEvent(nil, hostread.LastState(object)) },
	})
	w.watchMu.Lock()
	w.informer = informer
	w.watchMu.Unlock()
	w.runInformer(ctx, informer, handler)
}

// runInformer runs the informer, and wakes the sets that wait for its first list.
func (w *namespaceWatch) runInformer(
	ctx context.Context, informer cache.SharedIndexInformer, handler cache.ResourceEventHandlerRegistration,
) {
	var listed sync.WaitGroup
	defer listed.Wait()
	listed.Go(func() {
		if handler == nil || cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			w.wake()
		}
	})
	informer.RunWithContext(ctx)
}

// answered records whether the cluster allows the controller to watch objects.
func (w *namespaceWatch) answered(err error) {
	if noteUnwatchable(err, &w.watchMu, &w.denied) {
		w.wake()
	}
}

// wake enqueues the sets that need the watch.
func (w *namespaceWatch) wake() { w.kind.watcher.wake(w.kind.gvk.GroupKind(), w.namespace) }

// state says whether all objects of the kind are known that a set of the namespace may have,
// including all writes for the set.
func (w *namespaceWatch) state(memory *Memory) plan.Kind {
	if refused := w.kind.refusal(); refused != "" {
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
		return plan.Kind{Known: memory.shows(w.kind.gvk.GroupKind(), w.version())}
	}
}

// handleEvent wakes the set of an object that has changed.
func (w *namespaceWatch) handleEvent(before, after any) {
	object, ok := after.(*tracked)
	if !ok {
		return
	}
	keys := []cache.ObjectName{{Namespace: object.Namespace, Name: object.Labels[v1.ObjectSetLabel]}}
	earlier, was := before.(*tracked)
	if was && earlier.Labels[v1.ObjectSetLabel] != keys[0].Name {
		keys = append(keys, cache.ObjectName{Namespace: object.Namespace, Name: earlier.Labels[v1.ObjectSetLabel]})
	}
	config := &w.kind.watcher.config
	for _, key := range keys {
		if _, exists := config.Sets.Get(key.Namespace, key.Name); !exists {
			continue
		}
		if memory := config.MemoryOf(key); !was || earlier.differs(object) || memory.awaitsWrites() || memory.awaitsOutputs(w.kind.key(object)) {
			config.Wake([]cache.ObjectName{key})
		}
	}
}

// version is the resource version that the cache has reached.
func (w *namespaceWatch) version() string {
	return w.informer.GetIndexer().LastStoreSyncResourceVersion()
}

// ofSet are the objects whose label names a set.
func (w *namespaceWatch) ofSet(set cache.ObjectName) []*tracked {
	found, err := w.informer.GetIndexer().ByIndex(bySet, set.String())
	if err != nil {
		panic(fmt.Sprintf("reading index %s: %v", bySet, err)) // the cache always has this index
	}
	all := make([]*tracked, 0, len(found))
	for _, object := range found {
		if one, ok := object.(*tracked); ok {
			all = append(all, one)
		}
	}
	return all
}

// named is the object with a name, whatever owns it, and false if the cache has none.
func (w *namespaceWatch) named(namespace, name string) (*tracked, bool) {
	object, ok, err := w.informer.GetIndexer().GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil || !ok {
		return nil, false
	}
	typed, ok := object.(*tracked)
	return typed, ok
}
