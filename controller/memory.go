// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan"
)

// memory is what a term remembers of a set from one sync to the next. It has a memo of each set
// that it was asked for. The memo is dropped when a sync finds that the set no longer exists and
// the caches show all writes for it.
type memory struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]*memo
}

// memo is what is remembered of one set. The methods of each part are in the file that its comment
// names; they may be called concurrently.
type memo struct {
	key cache.ObjectName

	mu sync.Mutex
	// footprint are the versions that show the set's own writes (writes.go).
	footprint footprint
	// failures are the requests that failed and must not be retried yet (retries.go).
	failures failures
	// unlabeled are pods that use the set's names and cannot be watched (unlabeled_pods.go).
	unlabeled map[string]sighting
	// searched is true when such pods have been searched for (unlabeled_pods.go).
	searched bool
	// durable is the version of the set that cannot be lost (write.go).
	durable incarnation
	// statusAt is when the status was last written, zero if it was not (status.go).
	statusAt time.Time
	// pending are the events to emit once the status is written (events.go).
	pending pendingEvents
	// reads is what the last plan has read of the set's revisions. A set with nothing to do needs
	// none of it.
	reads plan.Records
	// objects is what is remembered of supporting objects.
	objects objects.Memory
	// evaluated is what has been evaluated of the set's expressions (evaluation_memory.go).
	evaluated evaluated
	// read are objects that were read because the caches have only stubs of them (unread.go).
	read map[*unread]any
}

func newMemory() *memory { return &memory{sets: map[cache.ObjectName]*memo{}} }

// of returns the memo of a set, and creates it if there is none. So the caller must know that the
// set exists.
func (m *memory) of(key cache.ObjectName) *memo {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.sets[key]
	if !ok {
		known = &memo{key: key}
		m.sets[key] = known
	}
	return known
}

// find returns the memo of a set that may not exist. It may be nil.
func (m *memory) find(key cache.ObjectName) *memo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sets[key]
}

func (m *memory) all() []*memo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.sets))
}

// forget drops the memo of a deleted set.
func (m *memory) forget(key cache.ObjectName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sets, key)
}

// keepWritesOnly drops everything but the footprint, because the set was deleted.
func (m *memo) keepWritesOnly() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures, m.unlabeled, m.durable, m.statusAt, m.pending = failures{}, nil, incarnation{}, time.Time{}, pendingEvents{}
	m.reads, m.read, m.evaluated = plan.Records{}, nil, evaluated{}
	m.objects.Forget()
}

func (m *memo) lastReads() plan.Records {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads
}

func (m *memo) keepReads(reads plan.Records) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads = reads
}
