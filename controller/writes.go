// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/plan"
)

// ownWrites remembers for each set what was written for it, until the caches show
// it. A set must not be decided on earlier: on a view without the pod that was
// just created, it would be created again.
//
// A cache shows a write when it has come to the resource version that the write
// was answered with. That holds whatever has happened to the object since, and a
// bookmark is enough. Versions are compared within one kind of object only, since
// the host and our own store count on their own.
type ownWrites struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]*footprint
}

// footprint is what is to be seen of one set's writes.
type footprint struct {
	// versions are the highest resource versions written, by kind of object.
	versions map[resource]string
	// status is the resource version of the status that was written last.
	status string
	// removals are what was told to go. The answer to a delete has no version.
	removals []removal
	// awaited is true if a sync has been put off until the writes are seen.
	awaited bool
}

type removal struct {
	kind resource
	name string
	uid  types.UID
}

func newOwnWrites() *ownWrites {
	return &ownWrites{sets: map[cache.ObjectName]*footprint{}}
}

// wrote notes that a create or an update was answered with the resource version.
func (w *ownWrites) wrote(key cache.ObjectName, kind resource, version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.of(key)
	if kind == setsResource {
		f.status = version
	}
	if before, ok := f.versions[kind]; !ok || !reached(before, version) {
		f.versions[kind] = version
	}
}

// removed notes that the host has accepted a delete.
func (w *ownWrites) removed(key cache.ObjectName, kind resource, object plan.Target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.of(key)
	f.removals = append(f.removals, removal{kind, object.Name, object.UID})
}

// unseen returns the kinds of objects of which the caches do not show our writes
// yet. If there are any, the next event that could show them wakes the set.
func (w *ownWrites) unseen(key cache.ObjectName, v view) []resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.sets[key]
	if !ok {
		return nil
	}
	var unseen []resource
	for kind, version := range f.versions {
		if reached(v.version(kind), version) {
			delete(f.versions, kind)
		} else {
			unseen = append(unseen, kind)
		}
	}
	var left []removal
	for _, r := range f.removals {
		if v.hasLive(r.kind, key.Namespace, r.name, r.uid) {
			left = append(left, r)
			unseen = append(unseen, r.kind)
		}
	}
	f.removals = left
	f.awaited = len(unseen) > 0
	return unseen
}

// awaited reports whether a sync of the set has been put off.
func (w *ownWrites) awaited(key cache.ObjectName) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.sets[key]
	return ok && f.awaited
}

// isOwnStatus reports whether the version is that of the status written last.
func (w *ownWrites) isOwnStatus(key cache.ObjectName, version string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.sets[key]
	return ok && f.status == version
}

// forget drops what is known of a set that is gone.
func (w *ownWrites) forget(key cache.ObjectName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sets, key)
}

func (w *ownWrites) of(key cache.ObjectName) *footprint {
	f, ok := w.sets[key]
	if !ok {
		f = &footprint{versions: map[resource]string{}}
		w.sets[key] = f
	}
	return f
}

// reached reports whether a view at version a shows what was written at b.
// Versions that are not numbers tell nothing but whether they are the same.
func reached(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return a == b
	}
	return order >= 0
}
