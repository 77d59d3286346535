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

// memory is what a term remembers from one sync of a set to the next. It has a memo of
// each set that it was asked for, until the set is forgotten, which is when a sync finds
// it gone and the caches show what was written for it.
type memory struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]*memo
}

// memo is what is remembered of one set. Each part has its methods in the file that is
// named behind it; they may be called at the same time.
type memo struct {
	key cache.ObjectName

	mu sync.Mutex
	// footprint is what is to be seen of the set's own writes (writes.go).
	footprint footprint
	// failures are what has failed and may not be tried yet (retries.go).
	failures failures
	// unlabeled are the pods in its way that cannot be watched (unlabeled_pods.go).
	unlabeled map[string]sighting
	// searched is true when such pods have been searched for (unlabeled_pods.go).
	searched bool
	// durable is what surely does not get lost (write.go).
	durable incarnation
	// statusAt is when the status was last written, zero if it was not (status.go).
	statusAt time.Time
	// pending are the events to tell once the status is written (events.go).
	pending pendingEvents
	// reads are what the last plan has read of the set's revisions. A set that is as it
	// should be needs nothing of the kind.
	reads plan.Records
	// objects are what is remembered of objects beside pods.
	objects objects.Memory
	// evaluated is what has been evaluated of the set's expressions (evaluation_memory.go).
	evaluated evaluated
	// read is what was read of objects that the caches have only stubs of (unread.go).
	read map[*unread]any
}

func newMemory() *memory { return &memory{sets: map[cache.ObjectName]*memo{}} }

// of is the memo of a set. It is made if there is none, so whoever asks has to know
// that the set exists.
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

// find is the memo of a set that need not exist. It may be nil.
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

// forget drops the memo of a set that is gone.
func (m *memory) forget(key cache.ObjectName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sets, key)
}

// keepWritesOnly drops all else, because the set is gone.
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
