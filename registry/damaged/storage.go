// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"context"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/warning"

	v1 "statefulset.dev/api/apps/v1"
)

// warnedSets is the maximum number of damaged sets that the warnings of a list name.
const warnedSets = 5

// store is the storage in front of the watch cache. It sets the mode of each request, and prevents
// work on a stand-in.
type store struct {
	storage.Interface
	sets   *Sets
	prefix string // of keys in etcd
}

// Get rejects a damaged set. A stand-in can come from the watch cache.
func (s *store) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	err := s.Interface.Get(with(ctx, refuse), key, opts, out)
	if err == nil {
		err = s.fault(out, key)
	}
	return answer(err, s.etcdKey(key))
}

// GuaranteedUpdate rejects a damaged set.
func (s *store) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object) error {
	update := func(input runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
		if meta.ResourceVersion != 0 {
			if err := s.fault(input, key); err != nil {
				return nil, nil, err
			}
		}
		return tryUpdate(input, meta)
	}
	err := s.Interface.GuaranteedUpdate(with(ctx, bare), key, destination, ignoreNotFound, preconditions, update, cached)
	return answer(err, s.etcdKey(key))
}

// Delete rejects a damaged set, unless the request asks for the deletion of a damaged value. In
// that case, it first removes the set from the owner references in the host cluster.
func (s *store) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validateDeletion storage.ValidateObjectFunc, cached runtime.Object, opts storage.DeleteOptions) error {
	validate := func(ctx context.Context, obj runtime.Object) error {
		if opts.ExpectTransformOrDecodeError {
			if err := validateDeletion(ctx, obj); err != nil {
				return err
			}
			return s.orphan(ctx, key)
		}
		if err := s.fault(obj, key); err != nil {
			return err
		}
		return validateDeletion(ctx, obj)
	}
	err := s.Interface.Delete(with(ctx, refuse), key, out, preconditions, validate, cached, opts)
	if err == nil && opts.ExpectTransformOrDecodeError {
		if namespace, name, err := namesOf(key); err == nil {
			s.sets.gone(namespace, name)
		}
	}
	return answer(err, s.etcdKey(key))
}

// GetList warns about stand-ins.
func (s *store) GetList(ctx context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	if err := s.Interface.GetList(ctx, key, opts, list); err != nil {
		return answer(err, s.etcdKey(key))
	}
	if sets, ok := list.(*v1.StatefulSetList); ok && s.sets.Count() > 0 {
		warn(ctx, sets.Items)
	}
	return nil
}

func warn(ctx context.Context, sets []v1.StatefulSet) {
	warned := 0
	for i := range sets {
		if !v1.IsDamaged(&sets[i]) {
			continue
		}
		if warned++; warned > warnedSets {
			return
		}
		warning.AddWarning(ctx, "", fmt.Sprintf("StatefulSet %s/%s is damaged: its stored value cannot be read; get it by name to see the cause",
			sets[i].Namespace, sets[i].Name))
	}
}

// fault returns the reason why an object cannot be used: it is a stand-in, or not the object of the
// key.
func (s *store) fault(obj runtime.Object, key string) error {
	set, ok := obj.(*v1.StatefulSet)
	if !ok || set.Name == "" && set.ResourceVersion == "" {
		return nil // an object that was not found is empty, and has no version
	}
	if v1.IsDamaged(set) {
		return &unreadable{key: s.etcdKey(key), cause: s.sets.cause(set)}
	}
	if err := misplaced(set, key); err != nil {
		return &unreadable{key: s.etcdKey(key), cause: err}
	}
	return nil
}

func (s *store) orphan(ctx context.Context, key string) error {
	namespace, name, err := namesOf(key)
	if err != nil || s.sets.host == nil {
		return err
	}
	if err := s.sets.host.Orphan(ctx, namespace, name); err != nil {
		return fmt.Errorf("orphaning the objects of the damaged set %q: %w", name, err)
	}
	return nil
}

// lastKnown reads sets from the watch cache. While the cache is empty, it reads from etcd, which
// returns an error for a damaged set.
func (s *store) lastKnown(resourcePrefix string) func(namespace, name string) *v1.StatefulSet {
	return func(namespace, name string) *v1.StatefulSet {
		set := &v1.StatefulSet{}
		key := path.Join(resourcePrefix, namespace, name)
		if err := s.Interface.Get(with(context.Background(), refuse), key, storage.GetOptions{ResourceVersion: "0"}, set); err != nil {
			return nil
		}
		if misplaced(set, key) != nil {
			return nil
		}
		return set
	}
}

func (s *store) etcdKey(key string) string {
	return path.Join("/", s.prefix, strings.TrimPrefix(key, "/"))
}
