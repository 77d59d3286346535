// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage"

	appsv1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset"
)

// setStore is the sets as they are stored, without a server before them.
type setStore struct {
	*genericregistry.Store
}

// openSets opens the sets of an etcd to which applyStorage has led.
func (c *Config) openSets(etcd *options.EtcdOptions) (setStore, error) {
	direct := *etcd
	direct.EnableWatchCache = false
	getter := c.tolerate(direct.CreateRESTOptionsGetter(&options.SimpleStorageFactory{StorageConfig: direct.StorageConfig}, c.Generic.ResourceTransformers))
	opened, err := statefulset.NewStorage(c.scheme, getter, statefulset.Preflight{}, nil)
	if err != nil {
		return setStore{}, err
	}
	return setStore{opened.StatefulSet.Store}, nil
}

// uids name all sets.
func (s setStore) uids(ctx context.Context) (map[setID]bool, error) {
	sets, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	uids := map[setID]bool{}
	for i := range sets {
		uids[setID{sets[i].Namespace, sets[i].UID}] = true
	}
	return uids, nil
}

func (s setStore) list(ctx context.Context) ([]appsv1.StatefulSet, error) {
	sets := &appsv1.StatefulSetList{}
	err := s.Storage.GetList(ctx, s.KeyRootFunc(request.WithNamespace(ctx, metav1.NamespaceAll)),
		storage.ListOptions{Recursive: true, Predicate: storage.Everything}, sets)
	if err != nil {
		return nil, fmt.Errorf("listing the sets in the store: %w", err)
	}
	return sets.Items, nil
}

// create stores a set just as it is.
func (s setStore) create(ctx context.Context, set *appsv1.StatefulSet) error {
	ctx = request.WithNamespace(ctx, set.Namespace)
	key, err := s.KeyFunc(ctx, set.Name)
	if err != nil {
		return fmt.Errorf("naming the key of set %s/%s: %w", set.Namespace, set.Name, err)
	}
	if err := s.Storage.Create(ctx, key, set, &appsv1.StatefulSet{}, 0, false); err != nil {
		return fmt.Errorf("storing set %s/%s: %w", set.Namespace, set.Name, err)
	}
	return nil
}
