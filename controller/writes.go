// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan/action"
)

// ownWrites records what the caches must show of a set's own writes. It is kept until they do,
// because the controller must not decide about the set earlier: on a view without the pod that was
// just created, it would create that pod again.
//
// A cache shows a write when it has reached the resource version with which the write was answered.
// That holds no matter what has happened to the object since, and a bookmark is enough. Versions
// are compared only within one kind of object, because the host cluster and our own store count
// separately.
type ownWrites struct {
	// versions are the highest resource versions written, by kind of object.
	versions map[resource]string
	// status is the resource version of the status that was written last. marked is that of the one
	// before, which changed only the mark of an evaluation.
	status, marked string
	// removals are the objects that were deleted. The response to a delete has no version.
	removals []removal
	// awaited is true if a sync was postponed until the caches show the writes.
	awaited bool
}

type removal struct {
	kind resource
	name string
	uid  types.UID
}

// wrote records the resource version with which a create or an update was answered.
func (m *setState) wrote(kind resource, version string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.ownWrites
	if kind == setsResource {
		f.status = version
	}
	if f.versions == nil {
		f.versions = map[resource]string{}
	}
	if before, ok := f.versions[kind]; !ok || !hostread.HasReached(before, version) {
		f.versions[kind] = version
	}
}

// removed records that the cluster has accepted a delete.
func (m *setState) removed(kind resource, object action.Target) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.ownWrites
	f.removals = append(f.removals, removal{kind, object.Name, object.UID})
}

// unseen returns the kinds of objects of which the caches do not show our writes yet. If there are
// any, the next event that could show them wakes the set.
func (m *setState) unseen(v view) []resource {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &m.ownWrites
	var unseen []resource
	for kind, version := range f.versions {
		if hostread.HasReached(v.version(kind), version) {
			delete(f.versions, kind)
		} else {
			unseen = append(unseen, kind)
		}
	}
	var left []removal
	for _, gone := range f.removals {
		if v.hasLive(gone.kind, m.key.Namespace, gone.name, gone.uid) {
			left = append(left, gone)
			unseen = append(unseen, gone.kind)
		}
	}
	f.removals = left
	f.awaited = len(unseen) > 0
	return unseen
}

// awaits reports whether a sync of the set was postponed until the caches show its writes.
func (m *setState) awaits() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ownWrites.awaited
}

// wroteMark records that a status was written that changed only the mark of an evaluation.
func (m *setState) wroteMark(version string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ownWrites.marked = version
}

// isOwnStatus reports whether the version is that of the last written status, or of a mark.
func (m *setState) isOwnStatus(version string) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return version == m.ownWrites.status || version == m.ownWrites.marked
}
