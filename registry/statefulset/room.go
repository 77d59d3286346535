// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	v1 "statefulset.dev/api/apps/v1"
)

// Room limits what can be written to the store.
type Room interface {
	// Take reserves room for a set of that size. grows is true if the set is new or larger than
	// before. If there is no room, it returns an error for the client.
	Take(namespace string, bytes int, grows bool) error
}

// LimitWrites makes the storage create, update and scale sets only while there is room. Writes of
// the status, deletions, and changes of sets that are being deleted need no room, because they free
// it.
func (s Storage) LimitWrites(room Room) {
	within := &s.StatefulSet.Storage // shared with /scale, but not with /status
	within.Storage = roomy{within.Storage, room}
}

// roomy reserves room for a write after admission and validation, when the final size is known. So
// a write that is rejected before, or is not stored, needs no room.
type roomy struct {
	storage.Interface
	room Room
}

func (r roomy) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if set, ok := obj.(*v1.StatefulSet); ok {
		if err := r.room.Take(set.Namespace, set.Size(), true); err != nil {
			return err
		}
	}
	return r.Interface.Create(ctx, key, obj, out, ttl)
}

func (r roomy) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object) error {
	taken := false // the store may try several times
	return r.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions,
		func(input runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
			output, ttl, err := tryUpdate(input, meta)
			if err != nil || taken {
				return output, ttl, err
			}
			old, _ := input.(*v1.StatefulSet)
			set, ok := output.(*v1.StatefulSet)
			if !ok || old == nil || !needsRoom(old, set) {
				return output, ttl, nil
			}
			if err := r.room.Take(set.Namespace, set.Size(), set.Size() > old.Size()); err != nil {
				return nil, nil, err
			}
			taken = true
			return output, ttl, nil
		}, cached)
}

// needsRoom is false for a write that changes nothing, and for one that ends a set.
func needsRoom(old, set *v1.StatefulSet) bool {
	if set.DeletionTimestamp != nil {
		return false
	}
	same := *set
	same.ResourceVersion = old.ResourceVersion
	return !equality.Semantic.DeepEqual(old, &same)
}
