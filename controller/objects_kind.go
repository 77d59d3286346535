// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// bySet finds objects by the set that they are labelled with.
const bySet = "set"

// objectKind is a kind of objects that is watched.
type objectKind struct {
	*term

	kind schema.GroupVersionKind
	// stop ends what runs for the kind.
	stop func()
	// hurried has an entry if a set has changed that describes objects of the kind.
	hurried chan struct{}

	mu sync.Mutex
	// resource is what the host calls the kind, empty until it has been asked.
	resource string
	informer cache.SharedIndexInformer
	// refused says why objects cannot be watched, empty if they can, or that is not known yet.
	refused string
}

func newObjectKind(t *term, kind schema.GroupVersionKind, stop func()) *objectKind {
	return &objectKind{term: t, kind: kind, stop: stop, hurried: make(chan struct{}, 1)}
}

// watch fills the cache of the kind until the context ends.
func (k *objectKind) watch(ctx context.Context, resource string) {
	objects := k.Objects.Metadata.Resource(k.kind.GroupVersion().WithResource(resource)).Namespace(metav1.NamespaceAll)
	lists := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			selecting(v1.ObjectSetLabel)(&options)
			list, err := objects.List(ctx, options)
			k.answered(err)
			return list, err //nolint:wrapcheck // the informer reads it
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			selecting(v1.ObjectSetLabel)(&options)
			stream, err := objects.Watch(ctx, options)
			k.answered(err)
			return stream, err //nolint:wrapcheck // the informer reads it
		},
	}
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lists, k.Objects.Metadata), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{
		bySet: indexBy(func(object *tracked) []string { return []string{in(object, object.Labels[v1.ObjectSetLabel])} }),
	})
	// Neither fails before the informer runs.
	_ = informer.SetTransform(func(object any) (any, error) { return track(object), nil })
	handler, _ := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { k.happened(nil, object) },
		UpdateFunc: func(before, after any) {
			k.happened(before, after)
		},
		DeleteFunc: func(object any) { k.happened(nil, lastState(object)) },
	})
	k.mu.Lock()
	k.resource, k.informer = resource, informer
	k.mu.Unlock()
	k.running(ctx, informer, handler)
}

// running runs the informer, and wakes the sets that wait for its first list.
func (k *objectKind) running(ctx context.Context, informer cache.SharedIndexInformer, handler cache.ResourceEventHandlerRegistration) {
	var listed sync.WaitGroup
	defer listed.Wait()
	listed.Go(func() {
		if handler == nil || cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			k.objects.wake(k.kind.GroupKind())
		}
	})
	informer.RunWithContext(ctx)
}

// answered notes whether the host lets objects be watched. That it cannot be reached says nothing
// about that.
func (k *objectKind) answered(err error) {
	refused := ""
	switch {
	case err == nil:
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err), apierrors.IsUnauthorized(err):
		refused = plan.Cause(err)
	default:
		return
	}
	k.mu.Lock()
	changed := k.refused != refused
	k.refused = refused
	k.mu.Unlock()
	if changed {
		k.objects.wake(k.kind.GroupKind())
	}
}

// state says whether all objects of the kind are known, and show what was written for a set.
func (k *objectKind) state(known *memo) plan.Kind {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.refused != "":
		return plan.Kind{Refused: k.refused}
	case k.informer == nil || !k.informer.HasSynced():
		return plan.Kind{}
	default:
		return plan.Kind{Known: known.showsObjects(k.kind.GroupKind(), k.informer.GetIndexer().LastStoreSyncResourceVersion())}
	}
}

// happened wakes the set of an object that has changed.
func (k *objectKind) happened(before, after any) {
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
		if _, exists := get[*v1.StatefulSet](k.view, setsResource, key.Namespace, key.Name); !exists {
			continue
		}
		if known := k.memory.find(key); !was || earlier.differs(object) || known.awaitsObjects() || known.awaitsOutputs(k.key(object)) {
			k.queue.Add(key)
		}
	}
}

// ofSet are the objects that are labelled with a set.
func (k *objectKind) ofSet(set cache.ObjectName) []*tracked {
	return find[*tracked](view{objectsResource: k.informer.GetIndexer()}, objectsResource, bySet, set.String())
}

// named is the object of a name, whosever it is, and false if the cache has none.
func (k *objectKind) named(namespace, name string) (*tracked, bool) {
	return get[*tracked](view{objectsResource: k.informer.GetIndexer()}, objectsResource, namespace, name)
}

// objectsResource stands for any kind of objects in a view of its own.
const objectsResource resource = "objects"

func (k *objectKind) key(object metav1.Object) identity.ObjectKey {
	return identity.ObjectKey{Group: k.kind.Group, Kind: k.kind.Kind, Name: object.GetName()}
}

// at is where objects are written in a version of the kind, and false if the host does not have
// the kind.
func (k *objectKind) at(version string) (schema.GroupVersionResource, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return schema.GroupVersionResource{Group: k.kind.Group, Version: version, Resource: k.resource}, k.resource != ""
}

// about reaches the metadata of objects of a namespace.
func (k *objectKind) about(namespace string) (metadata.ResourceInterface, bool) {
	at, ok := k.at(k.kind.Version)
	return k.Objects.Metadata.Resource(at).Namespace(namespace), ok
}
