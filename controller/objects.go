// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

const objectManager = identity.ObjectManager

// ObjectClients reach objects of any kind in the host.
type ObjectClients struct {
	Dynamic  dynamic.Interface
	Metadata metadata.Interface
}

// NewObjectClients returns clients of the host that suit a controller.
func NewObjectClients(config *rest.Config) (*ObjectClients, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	about, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building client for the metadata of objects: %w", err)
	}
	whole, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building client for objects: %w", err)
	}
	return &ObjectClients{whole, about}, nil
}

// objectKinds are the kinds of objects that templates of sets describe, each watched from when a
// set needs it until none does any more. Nothing waits for them but sets that have such templates.
type objectKinds struct {
	*term

	mu      sync.Mutex
	watched map[schema.GroupKind]*objectKind
	// ctx is that of the term, nil before it runs, and running what runs in it.
	ctx     context.Context //nolint:containedctx // what is watched ends with the term
	running sync.WaitGroup
}

// unusedInterval is how often it is seen whether a kind is still needed.
const unusedInterval = time.Minute

// begin lets kinds be watched until the context ends, and returns what waits for the end.
func (o *objectKinds) begin(ctx context.Context) (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ctx = ctx
	return o.running.Wait
}

// of is a kind of objects. It is watched from now on. It returns nil if the controller has no
// clients for objects, or the term is over.
func (o *objectKinds) of(kind schema.GroupVersionKind) *objectKind {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.watched[kind.GroupKind()]; known != nil {
		return known
	}
	if o.Objects == nil || o.ctx == nil || o.ctx.Err() != nil {
		return nil
	}
	ctx, stop := context.WithCancel(o.ctx)
	known := newObjectKind(o.term, kind)
	o.watched[kind.GroupKind()] = known
	o.running.Go(func() {
		defer stop()
		known.run(ctx)
	})
	o.running.Go(func() {
		defer stop()
		o.untilUnused(ctx, kind.GroupKind())
	})
	return known
}

// untilUnused returns when no set has a template of the kind any more, and forgets it.
func (o *objectKinds) untilUnused(ctx context.Context, kind schema.GroupKind) {
	ticker := o.Clock.NewTicker(unusedInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		if o.forget(kind) {
			return
		}
	}
}

func (o *objectKinds) forget(kind schema.GroupKind) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.view.has(setsResource, byObjectKind, kind.String()) {
		return false
	}
	delete(o.watched, kind)
	return true
}

// wake has all sets looked at that have a template of a kind.
func (o *objectKinds) wake(kind schema.GroupKind) {
	o.enqueue(with(nil, find[*v1.StatefulSet](o.view, setsResource, byObjectKind, kind.String())))
}

// observeObjects completes a world with the objects that the set's templates describe, and removed ones
// have described.
func (t *term) observeObjects(ctx context.Context, known *memo, world *plan.World) {
	kinds := identity.ObjectKinds(world.Set)
	known.observesObjects(world.Set, kinds)
	if len(kinds) == 0 {
		return
	}
	world.Objects, world.Kinds = map[identity.ObjectKey]*plan.Object{}, map[schema.GroupKind]plan.Kind{}
	for _, kind := range kinds {
		watched := t.objects.of(kind)
		if watched == nil {
			world.Kinds[kind.GroupKind()] = plan.Kind{Refused: "this controller has no clients for objects"}
			continue
		}
		if world.Kinds[kind.GroupKind()] = watched.state(known); !world.Kinds[kind.GroupKind()].Known {
			continue
		}
		// The cache is read last: what has been read from the host must not be missing from it.
		t.expectTaken(known, watched, world)
		t.readTaken(ctx, known, watched, world)
		for _, object := range watched.ofSet(cache.MetaObjectToName(world.Set)) {
			world.Objects[watched.key(object)] = t.seen(known, world.Set, object)
		}
	}
	known.showDeleted(world)
}

// seen is what the planner knows of an object.
func (t *term) seen(known *memo, set *v1.StatefulSet, object *tracked) *plan.Object {
	shown := &plan.Object{ObjectMeta: object.ObjectMeta, OwnerLives: t.ownerLives(set, object)}
	known.judgeObject(object, shown)
	shown.Outputs, shown.Differs, shown.Compared = known.outputsOf(object)
	return shown
}

// ownerLives reports whether another set that there is says that an object is its.
func (t *term) ownerLives(set *v1.StatefulSet, object *tracked) bool {
	owner := object.Annotations[v1.OwnerAnnotation]
	name, _, _ := strings.Cut(owner, "/")
	other, exists := get[*v1.StatefulSet](t.view, setsResource, set.Namespace, name)
	return exists && other.UID != set.UID && identity.OwnerMark(other) == owner
}
