// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/damaged"
	"statefulset.dev/registry/statefulset"
	"statefulset.dev/registry/statefulset/preflight"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/dependents"
)

// Sets provides direct access to stored sets, without a server.
type Sets struct {
	*genericregistry.Store
}

// OpenSets opens the sets of the etcd to which Apply has connected the server. Sets that cannot be
// read are added to unreadable.
func OpenSets(o *backend.Options, known *runtime.Scheme, generic *genericapiserver.Config, unreadable *damaged.Sets) (Sets, error) {
	direct := *o.Etcd
	direct.EnableWatchCache = false
	getter := damaged.Tolerate(direct.CreateRESTOptionsGetter(&options.SimpleStorageFactory{StorageConfig: direct.StorageConfig},
		generic.ResourceTransformers), unreadable)
	opened, err := statefulset.NewStorage(known, getter, preflight.Preflight{}, nil, nil)
	if err != nil {
		return Sets{}, err
	}
	return Sets{opened.StatefulSet.Store}, nil
}

// UIDs returns the identities of all sets.
func (s Sets) UIDs(ctx context.Context) (map[dependents.SetID]bool, error) {
	sets, err := s.All(ctx)
	if err != nil {
		return nil, err
	}
	uids := map[dependents.SetID]bool{}
	for i := range sets {
		uids[dependents.SetID{Namespace: sets[i].Namespace, UID: sets[i].UID}] = true
	}
	return uids, nil
}

// All returns the sets of all namespaces.
func (s Sets) All(ctx context.Context) ([]v1.StatefulSet, error) {
	sets := &v1.StatefulSetList{}
	err := s.Storage.GetList(ctx, s.KeyRootFunc(request.WithNamespace(ctx, metav1.NamespaceAll)),
		storage.ListOptions{Recursive: true, Predicate: storage.Everything}, sets)
	if err != nil {
		return nil, fmt.Errorf("listing the sets in the store: %w", err)
	}
	return sets.Items, nil
}

// Put stores a set unchanged.
func (s Sets) Put(ctx context.Context, set *v1.StatefulSet) error {
	ctx = request.WithNamespace(ctx, set.Namespace)
	key, err := s.KeyFunc(ctx, set.Name)
	if err != nil {
		return fmt.Errorf("naming the key of set %s/%s: %w", set.Namespace, set.Name, err)
	}
	if err := s.Storage.Create(ctx, key, set, &v1.StatefulSet{}, 0, false); err != nil {
		return fmt.Errorf("storing set %s/%s: %w", set.Namespace, set.Name, err)
	}
	return nil
}
