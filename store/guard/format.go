// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"

	ourversion "statefulset.dev/version"
)

// storeFormat is the latest format of the store that this version can read. A field
// that an older version would drop, when it reads a set and writes it back, needs a
// new one: isExtension says which fields do. The record says which is needed; the first write that
// needs a later one raises it before it is sent.
//
// No older server writes over what it does not know: it looks at the record after it
// has read a set and before it writes it, and the write holds only if the set is still
// the one that was read. If the record was not raised at that look, then what needs
// the later format is written after it, and the older write fails.
const storeFormat = 2

// firstFormat is that of a store in which nothing needs a later one.
const firstFormat = 1

// NeededFormat is what a server must know to read the store.
func (r record) NeededFormat() int { return max(r.Format, firstFormat) }

// formatError says that a store needs a later version of the server.
type formatError struct {
	store         string
	needed, known int
	// emulated is the version that the server emulates, nil if none.
	emulated *version.Version
}

func (e formatError) Error() string {
	if e.emulated != nil && e.needed <= storeFormat {
		return fmt.Sprintf(
			"Store %s is in format %d, and version %s, which this server emulates, knows formats up to %d: so nothing of group apps.statefulset.dev is served. "+
				"As long as every request is answered with 503 nothing is deleted; pods keep running, and nobody controls them. "+
				"Start this server without --emulated-version=%s=%s; or restore a backup from before the store was written by a later version, as docs/backup.md says.",
			e.store, e.needed, e.emulated, e.known, ourversion.Component, e.emulated)
	}
	return fmt.Sprintf(
		"Store %s is in format %d, and this server knows formats up to %d: it would drop what it does not know, so nothing of group apps.statefulset.dev is served. "+
			"As long as every request is answered with 503 nothing is deleted; pods keep running, and nobody controls them. "+
			"Start the version of the server that has written the store, or a later one; or restore a backup from before it, as docs/backup.md says.",
		e.store, e.needed, e.known)
}

// outgrown stops serving if the store needs a later version of the server.
func (g *Guard) outgrown(err error) error {
	if newer, ok := errors.AsType[formatError](err); ok {
		g.refuse(newer)
		g.lose()
	}
	return err
}

// makeRoomFor raises the format of the store if an object needs that, before it is
// written.
func (g *Guard) makeRoomFor(ctx context.Context, obj runtime.Object) error {
	if err := g.mayStore(obj); err != nil {
		return err
	}
	needed := g.formatOf(obj)
	if known, _, err := g.knows(); err != nil || known.NeededFormat() >= needed {
		return err
	}
	for {
		noted, seen, err := g.compare(ctx)
		switch {
		case err != nil:
			return g.outgrown(err)
		case seen.NeededFormat() >= needed:
			return nil
		case !g.isRight(noted, seen):
			return g.isExchanged()
		case noted.Mark != seen.Mark:
			if err := g.anchor(ctx, noted, seen); err != nil {
				return err
			}
			continue
		}
		next, ok, err := g.store.MarkAs(ctx, seen, noted.uid(), needed)
		if err != nil {
			return err
		}
		if ok {
			return g.anchor(ctx, noted, next)
		}
	}
}
