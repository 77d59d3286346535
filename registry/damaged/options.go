// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
)

// Tolerate returns a getter whose storage tolerates damaged sets, and adds them to sets. It must be
// used for the resource statefulsets only.
func Tolerate(getter generic.RESTOptionsGetter, sets *Sets) generic.RESTOptionsGetter {
	return tolerant{getter, sets}
}

type tolerant struct {
	generic.RESTOptionsGetter
	sets *Sets
}

// GetRESTOptions returns the options of the wrapped getter, with the transformer, the codec and the
// storage of this package (see the package comment).
func (t tolerant) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := t.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return generic.RESTOptions{}, fmt.Errorf("finding the storage of %s: %w", resource, err)
	}
	config := *options.StorageConfig
	if config.Transformer == nil {
		config.Transformer = identity.NewEncryptCheckTransformer()
	}
	config.Transformer = transformer{config.Transformer}
	config.Codec = codec{config.Codec, t.sets}
	options.StorageConfig = &config
	options.Decorator = t.decorate(options.Decorator)
	return options, nil
}

func (t tolerant) decorate(decorator generic.StorageDecorator) generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs,
		indexers *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		inner, destroy, err := decorator(config, resourcePrefix, keyFunc, newFunc, newListFunc, attributes, triggers, indexers)
		if err != nil {
			return nil, destroy, err
		}
		outer := &store{inner, t.sets, config.Prefix}
		if _, cached := inner.(*cacher.CacheDelegator); cached {
			t.sets.lastKnown.Store(new(outer.lastKnown(resourcePrefix)))
		}
		return outer, destroy, nil
	}
}
