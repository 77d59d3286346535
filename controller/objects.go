// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"

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

// observeObjects completes a world with the objects that the set's templates describe, and removed ones
// have described.
func (t *term) observeObjects(ctx context.Context, known *memo, world *plan.World) {
	kinds := identity.ObjectKinds(world.Set)
	changed := known.observesObjects(world.Set, kinds)
	if len(kinds) == 0 {
		return
	}
	world.Objects, world.Kinds = map[identity.ObjectKey]*plan.Object{}, map[schema.GroupKind]plan.Kind{}
	for _, kind := range kinds {
		watched, refused := t.objects.of(kind, world.Set.Namespace)
		if watched == nil {
			world.Kinds[kind.GroupKind()] = plan.Kind{Refused: refused}
			continue
		}
		if changed {
			watched.hurry()
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
