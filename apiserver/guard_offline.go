// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"math"

	clientv3 "go.etcd.io/etcd/client/v3"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// offline looks after a store that no server uses.
type offline struct{ guard *guard }

// newOffline takes the parts of a guardConfig with these names.
func newOffline(etcd *clientv3.Client, prefix string, anchors typedcorev1.ConfigMapInterface) offline {
	return offline{newGuard(guardConfig{Etcd: etcd, Prefix: prefix, Anchors: anchors})}
}

// known says which store it is, and whether it is the one that the host cluster knows.
func (o offline) known(ctx context.Context) (store string, known bool, err error) {
	noted, seen, err := o.guard.compare(ctx)
	return seen.Store, err == nil && noted.knows(seen), err
}

// renew sets a new mark, so that a copy from before does not pass for this store. If adopt
// is not empty, it says why the host cluster is to know this store from now on.
func (o offline) renew(ctx context.Context, adopt string) error {
	noted, seen, err := o.guard.compare(ctx)
	if err != nil {
		return err
	}
	next, ok, err := o.guard.store.mark(ctx, seen, noted.uid())
	if err == nil && !ok {
		err = errors.New("another process writes to the store: stop the server and run this again")
	}
	if err != nil || adopt == "" {
		return err
	}
	_, _, err = o.guard.adopt(ctx, noted, next, adopt)
	return err
}

// description is what a store says of itself.
type description struct {
	// Store is its name, and Revision what it had come to.
	Store    string
	Revision int64
	// Format is the one that a server must know to serve it.
	Format int
}

// describe reads the record of a store in any format.
func describe(ctx context.Context, etcd *clientv3.Client, prefix string) (description, error) {
	opened := newStore(etcd, prefix)
	opened.format = math.MaxInt
	seen, err := opened.look(ctx)
	return description{seen.Store, seen.revision, seen.format()}, err
}

// checkFormat says why this version cannot serve a store, nil if it can.
func checkFormat(ctx context.Context, etcd *clientv3.Client, prefix string) error {
	_, err := newStore(etcd, prefix).look(ctx)
	return err
}
