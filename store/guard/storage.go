// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

// provenOptions put the guard between etcd and the watch cache. So everything that is answered from
// the cache, sent to a watch, or seen by an informer, including the controller's, was proven
// before, once for all of them.
type provenOptions struct {
	generic.RESTOptionsGetter
	guard *Guard
	// cached is true if there is a watch cache.
	cached bool
}

// GetRESTOptions returns the underlying options with another storage.
func (p provenOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := p.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return generic.RESTOptions{}, fmt.Errorf("finding the storage of %s: %w", resource, err)
	}
	options.Decorator = p.open
	return options, nil
}

func (p provenOptions) open(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
	newFunc, newListFunc func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs,
	indexers *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
	raw, destroy, err := generic.NewRawStorage(config, newFunc, newListFunc, resourcePrefix)
	if err != nil {
		return nil, destroy, err
	}
	proven := &provenStorage{Interface: raw, guard: p.guard, keyFunc: keyFunc, prefix: config.Prefix}
	if !p.cached {
		return proven, destroy, nil
	}
	cached, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage: proven, Versioner: storage.APIObjectVersioner{}, Codec: config.Codec,
		GroupResource: config.GroupResource, ResourcePrefix: resourcePrefix, KeyFunc: keyFunc,
		NewFunc: newFunc, NewListFunc: newListFunc, GetAttrsFunc: attributes, IndexerFuncs: triggers, Indexers: indexers,
		EventsHistoryWindow: config.EventsHistoryWindow,
	})
	if err != nil {
		destroy()
		return nil, nil, fmt.Errorf("creating the watch cache: %w", err)
	}
	proven.cache.Store(cached)
	delegator := cacher.NewCacheDelegator(cached, proven)
	return delegator, func() {
		delegator.Stop()
		cached.Stop()
		destroy()
	}, nil
}

// provenStorage is etcd behind a guard that passes on only what was read from the right store.
type provenStorage struct {
	storage.Interface
	guard   *Guard
	keyFunc func(runtime.Object) (string, error)
	prefix  string // of keys in etcd
	// cache is the watch cache in front of this storage; it is set after it was created.
	cache atomic.Pointer[cacher.Cacher]
}

// mostReads is how often something is read again that changes while it is read.
const mostReads = 5

// Get answers that an object exists, or does not, as it was when the store was proven to be the
// right one. It tries the object in the watch cache first: if the proof says that etcd has the same
// object now, nothing else must be read.
func (s *provenStorage) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	if set, ok := out.(*v1.StatefulSet); ok && opts.ResourceVersion == "" {
		if known := s.lastSeen(ctx, key); known != nil && s.proveGet(ctx, key, known, nil) == nil {
			*set = *known.DeepCopy()
			return nil
		}
	}
	for range mostReads {
		err := s.Interface.Get(ctx, key, opts, out)
		if err != nil && !storage.IsNotFound(err) {
			return err
		}
		proof := s.proveGet(ctx, key, out, err)
		if proof == nil {
			return err
		}
		if !errors.Is(proof, errNotThere) {
			return unproven(proof)
		}
	}
	return unproven(errNotThere)
}

// lastSeen is the object in the watch cache, nil if there is none.
func (s *provenStorage) lastSeen(ctx context.Context, key string) *v1.StatefulSet {
	cached := s.cache.Load()
	if cached == nil || !cached.Ready() {
		return nil
	}
	set := &v1.StatefulSet{}
	if err := cached.Get(ctx, key, storage.GetOptions{ResourceVersion: "0"}, set); err != nil {
		return nil
	}
	return set
}

// proveGet verifies that an object is what the right store has now.
func (s *provenStorage) proveGet(ctx context.Context, key string, found runtime.Object, notFound error) error {
	version, err := s.version(found)
	if err != nil {
		return err
	}
	absent := notFound != nil || version == 0
	return s.guard.prove(ctx, question{reached: version, assertions: []keyAssertion{{key: s.etcdKey(key), version: version, absent: absent}}})
}

// GetList also proves a list at an older version: the revision must be one of the right store.
func (s *provenStorage) GetList(ctx context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	if err := s.Interface.GetList(ctx, key, opts, list); err != nil {
		return err
	}
	return s.proveList(ctx, list)
}

func (s *provenStorage) proveList(ctx context.Context, list runtime.Object) error {
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return fmt.Errorf("reading the version of a list: %w", err)
	}
	version, err := strconv.ParseInt(accessor.GetResourceVersion(), 10, 64)
	if err != nil {
		return fmt.Errorf("reading the version of a list: %w", err)
	}
	return unproven(s.guard.prove(ctx, question{reached: version}))
}

// GetCurrentResourceVersion is the version of the right store. A consistent list, and the initial
// events of a watch, wait until the watch cache has reached it.
func (s *provenStorage) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	revision, err := s.guard.revision(ctx)
	return uint64(revision), unproven(err) //nolint:gosec // etcd's revisions are positive
}

// Create is not acknowledged unless the object is in the right store.
func (s *provenStorage) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if err := s.guard.raiseFormatFor(ctx, obj); err != nil {
		return unproven(err)
	}
	if err := s.Interface.Create(ctx, key, obj, out, ttl); err != nil {
		return err
	}
	return s.proveWrite(ctx, key, out, false)
}

// GuaranteedUpdate is not acknowledged unless the object is in the right store. It also confirms
// the store before it writes: a server that has just become too old for the store must not
// overwrite data that it does not know.
func (s *provenStorage) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object) error {
	update := func(input runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
		out, ttl, err := tryUpdate(input, meta)
		if err != nil {
			return nil, nil, err
		}
		if err := s.guard.confirm(ctx); err != nil {
			return nil, nil, unproven(err)
		}
		return out, ttl, unproven(s.guard.raiseFormatFor(ctx, out))
	}
	if err := s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, update, cached); err != nil {
		return err
	}
	return s.proveWrite(ctx, key, destination, false)
}

// Delete is not acknowledged unless the object was deleted from the right store.
func (s *provenStorage) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, opts storage.DeleteOptions) error {
	if err := s.Interface.Delete(ctx, key, out, preconditions, validate, cached, opts); err != nil {
		return err
	}
	return s.proveWrite(ctx, key, out, true)
}

func (s *provenStorage) proveWrite(ctx context.Context, key string, written runtime.Object, absent bool) error {
	version, err := s.version(written)
	if err != nil || version == 0 {
		return err
	}
	return unproven(s.guard.prove(ctx, question{
		reached:    version,
		assertions: []keyAssertion{{key: s.etcdKey(key), at: version, version: version, absent: absent}},
	}))
}

// Watch sends only events that were proven. If it is opened before the store was confirmed to be
// the right one, it begins after that.
func (s *provenStorage) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	ctx, stop := context.WithCancel(ctx)
	w := &provenWatch{storage: s, ctx: ctx, stop: stop, result: make(chan watch.Event, watchBuffer), initial: s.sendsInitially(opts)}
	open := func() (watch.Interface, error) { return s.Interface.Watch(ctx, key, opts) }
	if !s.guard.isServing() {
		go w.runWhenRight(open)
		return w, nil
	}
	inner, err := open()
	if err != nil {
		stop()
		return nil, err
	}
	go w.run(inner)
	return w, nil
}

// sendsInitially reports whether a watch begins with the existing objects.
func (s *provenStorage) sendsInitially(opts storage.ListOptions) bool {
	return opts.SendInitialEvents != nil && *opts.SendInitialEvents || opts.ResourceVersion == "" || opts.ResourceVersion == "0"
}

// version is the revision at which an object was written, 0 if it is empty.
func (s *provenStorage) version(obj runtime.Object) (int64, error) {
	if obj == nil {
		return 0, nil
	}
	version, err := s.Versioner().ObjectResourceVersion(obj)
	if err != nil {
		return 0, fmt.Errorf("reading the version of an object: %w", err)
	}
	return int64(version), nil //nolint:gosec // etcd's revisions are int64
}

func (s *provenStorage) etcdKey(key string) string {
	return path.Join("/", s.prefix, strings.TrimPrefix(key, "/"))
}

// unproven turns an error into one that makes a client retry, so that no client believes that
// something was deleted. An invalid object stays invalid.
func unproven(err error) error {
	if err == nil || apierrors.IsServiceUnavailable(err) || apierrors.IsInvalid(err) {
		return err
	}
	return apierrors.NewServiceUnavailable(err.Error())
}
