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

// Room says what may be written to the store.
type Room interface {
	// Take takes room for a set of so many bytes, which is new or larger than it was if
	// it grows. The error, if there is no room, is for the client.
	Take(namespace string, bytes int, grows bool) error
}

// LimitWrites lets sets be created, updated and scaled only while there is room. Status,
// deletions, and what is done to sets that are being deleted need none: they are how room
// comes back.
func (s Storage) LimitWrites(room Room) {
	within := &s.StatefulSet.Storage // which the scale shares, and the status does not
	within.Storage = roomy{within.Storage, room}
}

// roomy takes room for what is about to be written: after admission and validation, as
// large as it will be, and not for what is refused before or is written nowhere.
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

// needsRoom is false for what is not written, since nothing has changed, and for what
// ends a set.
func needsRoom(old, set *v1.StatefulSet) bool {
	if set.DeletionTimestamp != nil {
		return false
	}
	same := *set
	same.ResourceVersion = old.ResourceVersion
	return !equality.Semantic.DeepEqual(old, &same)
}
