// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"net/http"

	utilversion "k8s.io/apimachinery/pkg/util/version"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/apiserver/storage"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/dependents"
	"statefulset.dev/store/guard"
	"statefulset.dev/version"
)

// applyGuard puts the guard of the store before everything that is served, and
// starts it. The func that it returns sets the last mark; it is called when
// nothing is written any more, and before the storage is closed. When the server
// must be started again, fail is told.
func (o *Options) applyGuard(ctx context.Context, config *Config, host *hostcluster.Host,
	fail context.CancelCauseFunc) (func() error, error) {
	etcd, err := o.Storage.Client()
	if err != nil {
		return nil, err
	}
	objects, err := host.Metadata()
	if err != nil {
		return nil, err
	}
	g := guard.New(guard.Config{
		Etcd: etcd, Prefix: o.Storage.Etcd.StorageConfig.Prefix,
		Anchors: host.Client.CoreV1().ConfigMaps(o.AnchorNamespace), Host: objects,
		Stored: func(ctx context.Context) (map[dependents.SetID]bool, error) { return config.StoredSets(ctx, o.Storage) },
		Advice: o.advice(), End: fail, Emulated: o.emulated(),
	})
	config.GuardWith(g)
	stop := g.Start(ctx)
	return func() error {
		stop()
		return etcd.Close()
	}, nil
}

// emulated is the version of ours that the server emulates, nil if it is its own.
func (o *Options) emulated() *utilversion.Version {
	effective := o.Server.ComponentGlobalsRegistry.EffectiveVersionFor(version.Component)
	if effective.EmulationVersion().EqualTo(effective.BinaryVersion()) {
		return nil
	}
	return effective.EmulationVersion()
}

// StoredSets name all sets in the store.
func (c *Config) StoredSets(ctx context.Context, o *backend.Options) (map[dependents.SetID]bool, error) {
	sets, err := storage.OpenSets(o, c.scheme, &c.Generic.Config, c.damagedSets())
	if err != nil {
		return nil, err
	}
	defer sets.DestroyFunc()
	return sets.UIDs(ctx)
}

func (o *Options) advice() guard.Advice {
	a := guard.Advice{Namespace: o.AnchorNamespace, Kubeconfig: o.Host.CoreAPIKubeconfigPath}
	if o.Storage.Embedded() {
		a.DataDir = o.Storage.Dir()
	} else {
		a.Etcd = o.Storage.Etcd.StorageConfig.Transport.ServerList
	}
	return a
}

// GuardWith lets nothing be served, and no controller run, unless the store is
// right.
func (c *Config) GuardWith(g *guard.Guard) {
	c.Guard = g
	c.Generic.RESTOptionsGetter = g.Proven(c.Generic.RESTOptionsGetter, c.watchCache)
	build := c.Generic.BuildHandlerChainFunc
	c.Generic.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
		return build(g.Filter(c.codecs, handler), generic)
	}
}
