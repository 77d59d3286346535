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

// setStates is what a term remembers of sets from one sync to the next. It has the setState of each
// set that it was asked for. A setState is dropped when a sync finds that the set no longer exists
// and the caches show all writes for it.
type setStates struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]*setState
}

// setState is what is remembered of one set. The methods of each part are in the file that its
// comment names; they may be called concurrently.
type setState struct {
	key cache.ObjectName

	mu sync.Mutex
	// ownWrites are the versions that show the set's own writes (writes.go).
	ownWrites ownWrites
	// failures are the requests that failed and must not be retried yet (retries.go).
	failures failures
	// unlabeled are pods that use the set's names and cannot be watched (unlabeled_pods.go).
	unlabeled map[string]unlabeledPod
	// searched is true when such pods have been searched for (unlabeled_pods.go).
	searched bool
	// durable is the version of the set that cannot be lost (write.go).
	durable generationID
	// statusAt is when the status was last written, zero if it was not (status.go).
	statusAt time.Time
	// pending are the events to emit once the status is written (events.go).
	pending pendingEvents
	// reads is what the last plan has read of the set's revisions. A set with nothing to do needs
	// none of it.
	reads plan.Cache
	// objects is what is remembered of supporting objects.
	objects objects.Memory
	// evaluated is what has been evaluated of the set's expressions (evaluation_memory.go).
	evaluated evaluated
	// read are objects that were read because the caches have only stubs of them (unread.go).
	read map[*usableStub]any
}

func newSetStates() *setStates { return &setStates{sets: map[cache.ObjectName]*setState{}} }

// getOrCreate returns the state of a set, and creates it if there is none. So the caller must know
// that the set exists.
func (m *setStates) getOrCreate(key cache.ObjectName) *setState {
	m.mu.Lock()
	defer m.mu.Unlock()
	state, ok := m.sets[key]
	if !ok {
		state = &setState{key: key}
		m.sets[key] = state
	}
	return state
}

// find returns the state of a set that may not exist. It may be nil.
func (m *setStates) find(key cache.ObjectName) *setState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sets[key]
}

func (m *setStates) all() []*setState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.sets))
}

// forget drops the state of a deleted set.
func (m *setStates) forget(key cache.ObjectName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sets, key)
}

// keepWritesOnly drops everything but ownWrites, because the set was deleted.
func (m *setState) keepWritesOnly() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures, m.unlabeled, m.durable, m.statusAt, m.pending = failures{}, nil, generationID{}, time.Time{}, pendingEvents{}
	m.reads, m.read, m.evaluated = plan.Cache{}, nil, evaluated{}
	m.objects.Forget()
}

func (m *setState) lastReads() plan.Cache {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads
}

func (m *setState) keepReads(reads plan.Cache) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads = reads
}
