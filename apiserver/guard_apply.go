// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"statefulset.dev/apiserver/dependents"
	"statefulset.dev/apiserver/hostcluster"
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
	opened := newStore(etcd, o.Storage.Etcd.StorageConfig.Prefix)
	objects, err := host.Metadata()
	if err != nil {
		return nil, err
	}
	guard := newGuard(opened, notesIn(host, o.NoteNamespace), objects, o.advice(), fail)
	guard.stored = func(ctx context.Context) (map[dependents.SetID]bool, error) {
		sets, err := config.openSets(o.Storage)
		if err != nil {
			return nil, err
		}
		defer sets.DestroyFunc()
		return sets.UIDs(ctx)
	}
	config.guardWith(guard)

	// It must outlive ctx: while the server shuts down, its controller still waits
	// for marks.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		guard.run(running)
	}()
	return func() error {
		stop()
		<-done
		guard.finish(ctx)
		return opened.Close()
	}, nil
}

func notesIn(host *hostcluster.Host, namespace string) notes {
	return notes{host.Client.CoreV1().ConfigMaps(namespace)}
}

func (o *Options) advice() advice {
	a := advice{namespace: o.NoteNamespace, kubeconfig: o.Host.CoreAPIKubeconfigPath}
	if o.Storage.Embedded() {
		a.dataDir = o.Storage.Dir()
	} else {
		a.etcd = o.Storage.Etcd.StorageConfig.Transport.ServerList
	}
	return a
}

// guardWith lets nothing be served, and no controller run, unless the store is
// right.
func (c *Config) guardWith(guard *guard) {
	c.guard = guard
	c.Generic.RESTOptionsGetter = provenOptions{c.Generic.RESTOptionsGetter, guard, c.watchCache}
	build := c.Generic.BuildHandlerChainFunc
	c.Generic.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
		return build(gate{guard, c.codecs, handler}, generic)
	}
}

// whileRight runs the controller as long as the store is right. It returns no
// error for a store that is not: that is no fault of the controller.
func (g *guard) whileRight(ctx context.Context, run func(context.Context) error) error {
	select {
	case <-g.right:
	case <-ctx.Done():
		return nil
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(g.wrong, stop)()
	err := run(running)
	if g.isLost() {
		<-ctx.Done()
		return nil
	}
	return err
}
