//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/faults/internal/scenarios"
)

const setName = scenarios.Name

// The kinds of objects in a history.
const (
	pods      = "pods"
	claims    = "persistentvolumeclaims"
	revisions = "controllerrevisions"
	sets      = "statefulsets"
	// objects are those that templates describe.
	objects = "configmaps"
	secrets = "secrets"
)

// What becomes of an object.
const (
	created  = "created"
	changed  = "changed"
	deleting = "deleting"
	gone     = "gone"
)

// history is what was seen to happen in one namespace.
type history struct {
	mu      sync.Mutex
	records []record
	live    map[string]map[string]metav1.Object
	// woken is closed at the next change.
	woken chan struct{}
}

// record is one thing that happened to an object.
type record struct {
	at         time.Time
	kind, verb string
	// version orders what happened in the host. Those of our sets are of another store.
	version int64
	object  metav1.Object
}

func (h *history) add(kind string, removed bool, object metav1.Object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live[kind] == nil {
		h.live[kind] = map[string]metav1.Object{}
	}
	name := object.GetName()
	before := h.live[kind][name]
	verb := changed
	switch {
	case removed:
		verb = gone
		delete(h.live[kind], name)
	case before == nil:
		verb = created
	case before.GetDeletionTimestamp() == nil && object.GetDeletionTimestamp() != nil:
		verb = deleting
	}
	if !removed {
		h.live[kind][name] = object
	}
	version, _ := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	h.records = append(h.records, record{time.Now(), kind, verb, version, object})
	close(h.woken)
	h.woken = make(chan struct{})
}

// all returns what has happened so far.
func (h *history) all() []record {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clip(h.records)
}

// wait returns a channel that is closed at the next change.
func (h *history) wait() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.woken
}

// until waits until nothing is missing any more, and returns what is when the context
// ends. It is asked again after every change.
func (h *history) until(ctx context.Context, missing func(scenarios.Observed) string) string {
	for {
		woken := h.wait()
		said := missing(h.observed())
		if said == "" {
			return ""
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return said
		}
	}
}
