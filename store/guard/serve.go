// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
)

// Start checks the store from now on. The returned function ends that, and sets the last mark. It
// is called after the last write.
func (g *Guard) Start(ctx context.Context) func() {
	// This must outlive ctx: while the server shuts down, its controller still waits for marks.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.run(running)
	}()
	return func() {
		stop()
		<-done
		g.finish(ctx)
	}
}

// Proven puts the guard between etcd and the watch cache, if there is one.
func (g *Guard) Proven(getter generic.RESTOptionsGetter, cached bool) generic.RESTOptionsGetter {
	return provenOptions{getter, g, cached}
}

// Filter ensures that no request below /apis is answered from a store that is not right.
func (g *Guard) Filter(serializer runtime.NegotiatedSerializer, next http.Handler) http.Handler {
	return gate{g, serializer, next}
}

// WhileRight runs the controller while the store is right. It returns no error if the store is not
// right, because that is not the controller's fault.
func (g *Guard) WhileRight(ctx context.Context, run func(context.Context) error) error {
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
