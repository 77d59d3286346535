// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// informers fill a view, one for each kind.
type informers map[resource]cache.SharedIndexInformer

// newInformers builds the informers and their view, and starts none. Adding indexes and transforms
// cannot fail before they run, so a failure is a bug.
func newInformers(all kinds) (informers, view) {
	built, v := informers{}, view{}
	for i := range all {
		kind := &all[i]
		informer := kind.newInformer()
		if err := informer.AddIndexers(kind.indexers()); err != nil {
			panic(fmt.Sprintf("indexing %s: %v", kind.resource, err))
		}
		if err := informer.SetTransform(func(object any) (any, error) { return kind.trim(v, object), nil }); err != nil {
			panic(fmt.Sprintf("setting the transform of %s: %v", kind.resource, err))
		}
		built[kind.resource], v[kind.resource] = informer, informer.GetIndexer()
	}
	return built, v
}

func (i informers) synced() []cache.InformerSynced {
	var synced []cache.InformerSynced
	for _, informer := range i {
		synced = append(synced, informer.HasSynced)
	}
	return synced
}

// unsynced names the kinds that have not been listed yet, in the order of the table.
func (i informers) unsynced(all kinds) string {
	var missing []string
	for _, kind := range all {
		if !i[kind.resource].HasSynced() {
			missing = append(missing, string(kind.resource))
		}
	}
	return strings.Join(missing, ", ")
}
