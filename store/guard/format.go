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

// storeFormat is the latest format of the store that this version can read. A new format is
// necessary for a field that an older version would drop when it reads a set and writes it back:
// isExtension says for which fields. The record names the necessary format. The first write that
// needs a later format raises it before the write is sent.
//
// No older server overwrites data that it does not know. It reads the record after it has read a
// set and before it writes the set, and the write succeeds only if the set has not changed since it
// was read. If the record did not have the later format then, the data that needs it is written
// afterwards, and the write of the older server fails.
const storeFormat = 2

// firstFormat is the format of a store without data that needs a later one.
const firstFormat = 1

// NeededFormat is the format that a server must support to read the store.
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
			"Store %s is in format %d, and version %s, which this server emulates, knows formats up to %d, so the API group apps.statefulset.dev is not served. "+
				"While all requests get 503, nothing is deleted: pods keep running, but no controller manages them. "+
				"Start this server without --emulated-version=%s=%s, or restore a backup from before a later version wrote to the store (see docs/backup.md).",
			e.store, e.needed, e.emulated, e.known, ourversion.Component, e.emulated)
	}
	return fmt.Sprintf(
		"Store %s is in format %d, and this server knows formats up to %d: it would drop data that it does not know, so the API group apps.statefulset.dev is not served. "+
			"While all requests get 503, nothing is deleted: pods keep running, but no controller manages them. "+
			"Start the version of the server that has written the store, or a later one, or restore a backup from before that version was used (see docs/backup.md).",
		e.store, e.needed, e.known)
}

// stopIfTooNew stops serving if the store needs a later version of the server.
func (g *Guard) stopIfTooNew(err error) error {
	if newer, ok := errors.AsType[formatError](err); ok {
		g.refuse(newer)
		g.lose()
	}
	return err
}

// raiseFormatFor raises the format of the store, if an object needs that, before the object is
// written.
func (g *Guard) raiseFormatFor(ctx context.Context, obj runtime.Object) error {
	if err := g.mayStore(obj); err != nil {
		return err
	}
	needed := g.formatOf(obj)
	if known, _, err := g.knownState(); err != nil || known.NeededFormat() >= needed {
		return err
	}
	for {
		note, seen, err := g.compare(ctx)
		switch {
		case err != nil:
			return g.stopIfTooNew(err)
		case seen.NeededFormat() >= needed:
			return nil
		case !g.isRight(note, seen):
			return g.stopServing()
		case note.Mark != seen.Mark:
			if err := g.writeNote(ctx, note, seen); err != nil {
				return err
			}
			continue
		}
		next, ok, err := g.store.MarkAs(ctx, seen, note.uid(), needed)
		if err != nil {
			return err
		}
		if ok {
			return g.writeNote(ctx, note, next)
		}
	}
}
