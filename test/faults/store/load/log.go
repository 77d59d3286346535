// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"maps"
	"slices"
	"sync"
	"time"

	"statefulset.dev/test/faults/store/history"
	"statefulset.dev/test/faults/store/watches"
)

// Log is what all clients of a run have recorded. Its methods may be called at any time.
type Log struct {
	begin time.Time

	mu           sync.Mutex
	operations   []history.Operation
	snapshots    []history.Snapshot
	streams      []watches.Stream
	errors       map[string]int
	known        map[string]history.Version
	acknowledged int
	lastCall     time.Duration
}

// NewLog returns an empty log. Times count from now.
func NewLog() *Log {
	return &Log{begin: time.Now(), errors: map[string]int{}, known: map[string]history.Version{}}
}

// Now returns the time since the beginning of the run.
func (l *Log) Now() time.Duration { return time.Since(l.begin) }

// Operations returns the requests that were answered until now.
func (l *Log) Operations() []history.Operation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.operations)
}

// Snapshots returns the lists that were answered until now.
func (l *Log) Snapshots() []history.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.snapshots)
}

// Streams returns the watches that have ended.
func (l *Log) Streams() []watches.Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.streams)
}

// Errors returns the number of occurrences of each error that left an outcome unknown.
func (l *Log) Errors() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	errors := map[string]int{}
	maps.Copy(errors, l.errors)
	return errors
}

// Acknowledged returns the number of acknowledged writes until now, and the time of the latest
// request among them.
func (l *Log) Acknowledged() (writes int, lastCall time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acknowledged, l.lastCall
}

func (l *Log) operation(op history.Operation, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.operations = append(l.operations, op)
	if op.Answer == history.Unknown {
		l.errors[kindOfError(err)]++
	}
	if op.Kind != history.Read && op.Answer == history.Done {
		l.acknowledged++
		l.lastCall = max(l.lastCall, op.Call)
	}
	l.learn(op)
}

// learn remembers what is probably stored, so that most writes apply to the current version.
func (l *Log) learn(op history.Operation) {
	switch {
	case op.Answer == history.Absent, op.Kind == history.Delete && op.Answer == history.Done:
		delete(l.known, op.Key)
	case op.Answer == history.Done && op.Got.Revision > l.known[op.Key].Revision:
		l.known[op.Key] = op.Got
	}
}

func (l *Log) knows(key string) (history.Version, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	version, ok := l.known[key]
	return version, ok
}

func (l *Log) snapshot(snapshot history.Snapshot, reads []history.Operation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.snapshots = append(l.snapshots, snapshot)
	l.operations = append(l.operations, reads...)
}

func (l *Log) stream(stream watches.Stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams = append(l.streams, stream)
}

func (l *Log) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errors[kindOfError(err)]++
}
