// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var errReplaced = errors.New("the store is no longer the one with which this server was started")

// Covered returns when the note has a mark of the store that was set after a resource version of a
// set. One write serves many callers. An error means that this is not known, so the set may be lost
// unnoticed.
func (g *Guard) Covered(ctx context.Context, resourceVersion string) error {
	version, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("resource version %q of a set is not a number: %w", resourceVersion, err)
	}
	for {
		round, done, err := g.coverage(version)
		if done || err != nil {
			return err
		}
		select {
		case g.wake <- struct{}{}:
		default: // a mark is requested already
		}
		select {
		case <-round:
		case <-ctx.Done():
			return fmt.Errorf("waiting until the note about the store covers revision %d: %w", version, context.Cause(ctx))
		}
		if err := g.lastFailure(); err != nil {
			return fmt.Errorf("waiting until the note about the store covers revision %d: %w", version, err)
		}
	}
}

func (g *Guard) coverage(version int64) (round <-chan struct{}, done bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.round, g.covered >= version, g.refused
}

func (g *Guard) lastFailure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

func (g *Guard) endRound(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = err
	close(g.round)
	g.round = make(chan struct{})
}

// advance makes the note name a mark that covers everything that is in the store now, after it has
// verified that the store is still the right one.
func (g *Guard) advance(ctx context.Context) error {
	reached := g.reachedRevision()
	note, seen, err := g.compare(ctx)
	if err != nil {
		return g.stopIfTooNew(err)
	}
	if seen.revision < reached || !g.isRight(note, seen) {
		return g.stopServing()
	}
	if note.Mark != seen.Mark {
		// The note was deleted, or the server that set the mark was interrupted before it wrote the
		// note.
		return g.writeNote(ctx, note, seen)
	}
	g.rememberNote(seen)
	if seen.revision == seen.Marked && !g.isUnmarked() {
		return nil
	}
	next, ok, err := g.store.Mark(ctx, seen, note.uid())
	if err != nil || !ok {
		return err
	}
	return g.writeNote(ctx, note, next)
}

// isIdle reports whether there is nothing to write to the host cluster, and nothing to read from
// it: the record is the one in the note, nothing was written after it, and the note was confirmed
// to exist a short while ago. Only the store is read to decide that.
func (g *Guard) isIdle(ctx context.Context) bool {
	seen, err := g.store.Read(ctx)
	if err != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.unmarked && seen.record == g.compared.record && seen.Marked == g.compared.Marked &&
		seen.revision == seen.Marked && seen.revision >= g.reached && time.Since(g.comparedAt) < g.recheckInterval
}

// isRight checks a store that was right before. The store stays right if the note was deleted
// meanwhile.
func (g *Guard) isRight(note storeNote, seen observation) bool {
	if note.IsBlank() {
		g.mu.Lock()
		defer g.mu.Unlock()
		return seen.Store == g.known.Store
	}
	return note.matches(seen)
}

// writeNote writes the note. If another replica was faster, the next round continues from what that
// replica wrote.
func (g *Guard) writeNote(ctx context.Context, note storeNote, seen observation) error {
	err := g.notes.Write(ctx, note, seen)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err == nil {
		g.rememberNote(seen)
	}
	return err
}

// reaches verifies that the store has reached a resource version. A client may have the version
// from an earlier store. A watch from a future version would be silent until the store reaches it.
func (g *Guard) reaches(ctx context.Context, resourceVersion string) error {
	version, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil || version <= g.reachedRevision() {
		return nil //nolint:nilerr // the next reader refuses a version that is not a number
	}
	if err := g.confirm(ctx); err != nil {
		return err
	}
	if reached := g.reachedRevision(); version > reached {
		return apierrors.NewResourceExpired(
			fmt.Sprintf("resource version %d is not from this store, which is at %d: list again", version, reached))
	}
	return nil
}

// stopServing refuses every request from now on, and returns the reason. What exactly has happened
// is determined afterwards.
func (g *Guard) stopServing() error {
	g.refuse(errReplaced)
	g.lose()
	return errReplaced
}

func (g *Guard) reachedRevision() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reached
}

// rememberNote remembers a record that the note names. What it covers counts only after this
// process has set a mark itself: a copy of the store may contain a mark from before it was copied,
// and only a new mark distinguishes the two.
func (g *Guard) rememberNote(seen observation) {
	g.mu.Lock()
	own := strings.HasPrefix(seen.Mark, g.store.server+".")
	g.unmarked = g.unmarked && !own
	g.compared, g.comparedAt = seen, time.Now()
	covered := seen.Marked
	if g.unmarked {
		covered = 0
	}
	g.mu.Unlock()
	g.remember(seen, covered)
}

func (g *Guard) isUnmarked() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unmarked
}

// follows reports whether a record is a later one of the store with a known record.
func (s observation) follows(known observation) bool {
	return s.Store == known.Store && s.containsMark(known.Mark, known.NoteUID)
}

func (g *Guard) remember(seen observation, covered int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if seen.Marked > g.known.Marked {
		g.known = seen
	}
	g.reached = max(g.reached, seen.revision)
	g.covered = max(g.covered, covered)
}
