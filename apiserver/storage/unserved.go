// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapiserver "k8s.io/apiserver/pkg/server"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/scheme"
	"statefulset.dev/registry/damaged"
	"statefulset.dev/registry/statefulset"
	"statefulset.dev/store/backend"
)

// Unserved decodes, defaults and validates sets like a server does, for a store that no server
// uses.
type Unserved struct {
	known *runtime.Scheme
}

// NewUnserved returns an Unserved that knows the same kinds as a server.
func NewUnserved() Unserved { return Unserved{scheme.New()} }

// Open opens the sets of a store.
func (u Unserved) Open(o *backend.Options) (Sets, error) {
	codecs := serializer.NewCodecFactory(u.known)
	generic := genericapiserver.NewConfig(codecs)
	o.Etcd.SkipHealthEndpoints = true // no server exposes them, and their clients would outlive the etcd
	if err := Apply(o, codecs, generic); err != nil {
		return Sets{}, err
	}
	return OpenSets(o, u.known, generic, damaged.NewSets(nil))
}

// Complete sets the defaults of a lost set, and returns what is wrong with it.
func (u Unserved) Complete(set *v1.StatefulSet) field.ErrorList {
	u.known.Default(set)
	return statefulset.ValidateRebuilt(set)
}
