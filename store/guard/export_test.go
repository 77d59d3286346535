// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/store/dependents"
)

// What tests with a whole server, which are in another package, see of the guard.
type (
	Store       = store
	Observation = observation
	Record      = record
	Anchor      = storeNote
	Anchors     = noteClient
)

const (
	AcceptAnnotation = acceptAnnotation
	RecheckInterval  = recheckInterval
	StoreFormat      = storeFormat
)

var (
	NewStore       = newStore
	NewAnchors     = newNoteClient
	ParseMark      = parseMark
	NeededFormat   = neededFormat
	FormatOf       = formatOfVersion
	ErrNotCompared = errNotCompared
)

// NewObservation is a record as it was found.
func NewObservation(r Record, marked int64) Observation {
	return observation{record: r, Marked: marked}
}

// RecordOf is the record of an observation.
func RecordOf(seen Observation) Record { return seen.record }

// StoreOf is the record's home.
func StoreOf(g *Guard) *Store { return g.store }

// SetRecheckInterval sets how often the note is read while nothing is written.
func SetRecheckInterval(g *Guard, interval time.Duration) { g.recheckInterval = interval }

// Watching calls seen before the sets of the store are listed.
func Watching(g *Guard, seen func()) {
	stored := g.stored
	g.stored = func(ctx context.Context) (map[dependents.SetID]bool, error) {
		seen()
		return stored(ctx)
	}
}

// Knowing makes a guard one of a server that knows another format.
func Knowing(g *Guard, format int, formatOf func(runtime.Object) int) {
	g.store.format, g.formatOf = format, formatOf
}

// Emulating makes a guard one of a server that emulates another version.
func Emulating(g *Guard, other *version.Version) { g.store.emulate(other) }

// UnknownTo are the fields of a set that another version does not have.
func UnknownTo(other *version.Version, set *v1.StatefulSet) field.ErrorList {
	g := &Guard{store: &store{}}
	Emulating(g, other)
	return g.Unknown(set)
}

// Round ends with the next look at the store.
func Round(g *Guard) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.round
}

// IsIdle reports whether there is nothing to tell the host, nor to ask it.
func IsIdle(ctx context.Context, g *Guard) bool { return g.isIdle(ctx) }
