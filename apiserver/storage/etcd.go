// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/scheme"
	"statefulset.dev/store/backend"
)

// Apply connects a server to etcd. It creates the codec, because the generic options would accept
// --storage-media-type and then ignore it.
func Apply(o *backend.Options, codecs runtime.StorageSerializer, generic *genericapiserver.Config) error {
	stored := &o.Etcd.StorageConfig
	codec, versioner, err := serverstorage.NewStorageCodec(serverstorage.StorageCodecConfig{
		StorageMediaType:  o.Etcd.DefaultStorageMediaType,
		StorageSerializer: codecs,
		StorageVersion:    v1.SchemeGroupVersion,
		MemoryVersion:     scheme.Hub(v1.GroupName),
		Config:            *stored,
	})
	if err != nil {
		return fmt.Errorf("preparing the storage encoding: %w", err)
	}
	stored.Codec, stored.EncodeVersioner = codec, versioner
	if err := o.Etcd.ApplyTo(generic); err != nil {
		return fmt.Errorf("connecting to etcd: %w", err)
	}
	return nil
}
