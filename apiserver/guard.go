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

// applyGuard puts the guard of the store before everything that the server serves, and starts it.
// The function that it returns sets the last mark. Call it when nothing is written any more, and
// before the storage is closed. The guard calls fail when the server must restart.
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
		Notes: host.Client.CoreV1().ConfigMaps(o.NoteNamespace), Host: objects,
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

// emulated returns the version of this server that it emulates, nil if it emulates none.
func (o *Options) emulated() *utilversion.Version {
	effective := o.Server.ComponentGlobalsRegistry.EffectiveVersionFor(version.Component)
	if effective.EmulationVersion().EqualTo(effective.BinaryVersion()) {
		return nil
	}
	return effective.EmulationVersion()
}

// StoredSets returns the identities of all sets in the store.
func (c *Config) StoredSets(ctx context.Context, o *backend.Options) (map[dependents.SetID]bool, error) {
	sets, err := storage.OpenSets(o, c.scheme, &c.Generic.Config, c.damagedSets())
	if err != nil {
		return nil, err
	}
	defer sets.DestroyFunc()
	return sets.UIDs(ctx)
}

func (o *Options) advice() guard.Advice {
	a := guard.Advice{Namespace: o.NoteNamespace, Kubeconfig: o.Host.CoreAPIKubeconfigPath}
	if o.Storage.Embedded() {
		a.DataDir = o.Storage.Dir()
	} else {
		a.Etcd = o.Storage.Etcd.StorageConfig.Transport.ServerList
	}
	return a
}

// GuardWith ensures that nothing is served, and no controller runs, unless the store is the right
// one.
func (c *Config) GuardWith(g *guard.Guard) {
	c.Guard = g
	c.Generic.RESTOptionsGetter = g.Proven(c.Generic.RESTOptionsGetter, c.watchCache)
	build := c.Generic.BuildHandlerChainFunc
	c.Generic.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
		return build(g.Filter(c.codecs, handler), generic)
	}
}
