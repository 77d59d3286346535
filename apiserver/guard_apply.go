// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"statefulset.dev/apiserver/dependents"
	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/apiserver/storage"
)

// applyGuard puts the guard of the store before everything that is served, and
// starts it. The func that it returns sets the last mark; it is called when
// nothing is written any more, and before the storage is closed. When the server
// must be started again, fail is told.
func (o *Options) applyGuard(ctx context.Context, config *Config, host *hostcluster.Host, fail context.CancelCauseFunc) (func() error, error) {
	etcd, err := o.Storage.Client()
	if err != nil {
		return nil, err
	}
	objects, err := host.Metadata()
	if err != nil {
		return nil, err
	}
	guard := newGuard(guardConfig{
		Etcd: etcd, Prefix: o.Storage.Etcd.StorageConfig.Prefix,
		Anchors: host.Client.CoreV1().ConfigMaps(o.NoteNamespace), Host: objects,
		Stored: func(ctx context.Context) (map[dependents.SetID]bool, error) { return config.uids(ctx, o.Storage) },
		Advice: o.advice(), End: fail,
	})
	config.guardWith(guard)
	stop := guard.start(ctx)
	return func() error {
		stop()
		return etcd.Close()
	}, nil
}

// uids name all sets in the store.
func (c *Config) uids(ctx context.Context, o *storage.Options) (map[dependents.SetID]bool, error) {
	sets, err := o.OpenSets(c.scheme, &c.Generic.Config, c.damagedSets())
	if err != nil {
		return nil, err
	}
	defer sets.DestroyFunc()
	return sets.UIDs(ctx)
}

func (o *Options) advice() advice {
	a := advice{Namespace: o.NoteNamespace, Kubeconfig: o.Host.CoreAPIKubeconfigPath}
	if o.Storage.Embedded() {
		a.DataDir = o.Storage.Dir()
	} else {
		a.Etcd = o.Storage.Etcd.StorageConfig.Transport.ServerList
	}
	return a
}

// guardWith lets nothing be served, and no controller run, unless the store is
// right.
func (c *Config) guardWith(guard *guard) {
	c.guard = guard
	c.Generic.RESTOptionsGetter = guard.proven(c.Generic.RESTOptionsGetter, c.watchCache)
	build := c.Generic.BuildHandlerChainFunc
	c.Generic.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
		return build(guard.filter(c.codecs, handler), generic)
	}
}
