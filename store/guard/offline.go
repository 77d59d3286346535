// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"math"

	clientv3 "go.etcd.io/etcd/client/v3"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Offline is the guard of a store that no server uses.
type Offline struct{ guard *Guard }

// NewOffline needs only these fields of a Config.
func NewOffline(etcd *clientv3.Client, prefix string, anchors typedcorev1.ConfigMapInterface) Offline {
	return Offline{New(Config{Etcd: etcd, Prefix: prefix, Notes: anchors})}
}

// Known returns the name of the store, and whether it is the one that the host cluster knows.
func (o Offline) Known(ctx context.Context) (store string, known bool, err error) {
	note, seen, err := o.guard.compare(ctx)
	return seen.Store, err == nil && note.matches(seen), err
}

// Renew sets a new mark, so that an earlier copy is not mistaken for this store. If adopt is not
// empty, the store is recorded in the note, with adopt as the reason.
func (o Offline) Renew(ctx context.Context, adopt string) error {
	note, seen, err := o.guard.compare(ctx)
	if err != nil {
		return err
	}
	next, ok, err := o.guard.store.Mark(ctx, seen, note.uid())
	if err == nil && !ok {
		err = errors.New("another process writes to the store: stop the server and run this again")
	}
	if err != nil || adopt == "" {
		return err
	}
	_, _, err = o.guard.adopt(ctx, note, next, adopt)
	return err
}

// Description is what a store records about itself.
type Description struct {
	// Store is its name, and Revision its revision.
	Store    string
	Revision int64
	// Format is the format that a server must support to serve it.
	Format int
}

// Describe reads the record of a store in any format.
func Describe(ctx context.Context, etcd *clientv3.Client, prefix string) (Description, error) {
	opened := newStore(etcd, prefix)
	opened.format = math.MaxInt
	seen, err := opened.Read(ctx)
	return Description{seen.Store, seen.revision, seen.NeededFormat()}, err
}

// CheckFormat returns why this version cannot serve a store, nil if it can.
func CheckFormat(ctx context.Context, etcd *clientv3.Client, prefix string) error {
	_, err := newStore(etcd, prefix).Read(ctx)
	return err
}

// HostKnowsStore reports whether the host cluster knows any store. If so, an empty store is not the
// right one.
func HostKnowsStore(ctx context.Context, anchors typedcorev1.ConfigMapInterface) (bool, error) {
	note, err := newNoteClient(anchors).Read(ctx)
	return err == nil && !note.IsBlank(), err
}
