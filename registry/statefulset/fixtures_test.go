// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistrytest "k8s.io/apiserver/pkg/registry/generic/testing"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/preflight"
)

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatalf("registering the API: %v", err)
	}
	return scheme
}

// newTestStorage is the storage of the server on an etcd that ends with the test.
func newTestStorage(t *testing.T) Storage {
	t.Helper()
	server, config := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	t.Cleanup(func() { server.Terminate(t) })

	scheme, version := newScheme(t), v1.SchemeGroupVersion
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	config.Codec = codecs.CodecForVersions(info.Serializer, codecs.UniversalDeserializer(), version, version)
	config.EncodeVersioner = version

	storage, err := NewStorage(scheme, generic.RESTOptions{
		StorageConfig:           config.ForResource(v1.Resource("statefulsets")),
		Decorator:               generic.UndecoratedStorage,
		DeleteCollectionWorkers: 1,
		EnableGarbageCollection: true,
		ResourcePrefix:          "statefulsets",
	}, preflight.Preflight{}, nil, nil)
	if err != nil {
		t.Fatalf("creating the storage: %v", err)
	}
	t.Cleanup(storage.StatefulSet.Destroy)
	return storage
}

// requestFor is the context of a request for a subresource, "" for the set.
func (s Storage) requestFor(subresource string) context.Context {
	if subresource == "" {
		return genericregistrytest.NewNamespaceScopeContext(s.StatefulSet.Store, metav1.NamespaceDefault)
	}
	return genericregistrytest.NewNamespaceScopeContext(s.StatefulSet.Store, metav1.NamespaceDefault, subresource)
}
