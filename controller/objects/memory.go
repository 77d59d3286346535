// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// After a correction of another client's change, the next correction waits for a delay from the
// shortest to the longest.
const (
	shortestCorrection = 5 * time.Second
	longestCorrection  = 5 * time.Minute
)

const (
	// recheckInterval is how often the cluster is asked again about objects that cannot be watched.
	recheckInterval = 15 * time.Second
	// staleInterval is how often a set is synced that waits for the caches to show its own writes,
	// although no event woke it: a bookmark wakes no set.
	staleInterval = 30 * time.Second
)

// written is what is remembered of an object that the controller wrote.
type written struct {
	// ours is the digest of the fields that the controller managed after the write, made the inputs
	// of the object at that time.
	ours, made string
	// settled is the resource version at which an apply of inputs changed nothing.
	settled, inputs string
	// corrections is the number of corrections in a row, and correctedAt the time of the last one.
	corrections int
	correctedAt time.Time
}

// Memory is what is remembered of the objects of a set, from one sync to the next. Its zero value
// remembers nothing. Its methods may be called concurrently.
type Memory struct {
	mu sync.Mutex
	remembered
}

type remembered struct {
	// of is the version of the set when it was last observed.
	of generationID
	// versions are the highest resource versions written, by kind.
	versions map[schema.GroupKind]string
	written  map[types.UID]written
	// deleted are objects that were deleted, and that the cache may still show.
	deleted       map[types.UID]schema.GroupKind
	nameConflicts map[conflictKey]nameConflict
	// conflictsRecorded are the kinds for which names that other objects use have been recorded, if
	// the status counts such objects.
	conflictsRecorded map[schema.GroupKind]bool
	// outputs is what objects provide, as it was read, awaited are the objects that lack what a pod
	// needs, and unread is true if one could not be read (outputs.go).
	outputs map[types.UID]providedOutputs
	awaited map[identity.ObjectKey]bool
	unread  bool
	// lost is true if Secrets were lost that are not generated again, and are searched for from
	// time to time.
	lost     bool
	soughtAt time.Time
}

// generationID is one generation of one set.
type generationID struct {
	uid        types.UID
	generation int64
}

// Forget drops everything that is remembered, because the set was deleted.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remembered = remembered{}
}

// resetIfChanged forgets what concerned an earlier version of the set: names that are in use are
// detected again, and no writes are awaited for kinds that the set no longer describes. It reports
// whether the set has changed since it was last observed.
func (m *Memory) resetIfChanged(set *v1.StatefulSet, kinds []schema.GroupVersionKind) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := generationID{set.UID, set.Generation}
	if len(kinds) == 0 {
		m.remembered = remembered{of: now}
		return false
	}
	if m.of == now {
		return false
	}
	m.of, m.nameConflicts, m.conflictsRecorded = now, nil, nil
	m.outputs, m.awaited, m.unread, m.lost = nil, nil, false, false
	maps.DeleteFunc(m.versions, func(kind schema.GroupKind, _ string) bool {
		return !slices.ContainsFunc(kinds, func(described schema.GroupVersionKind) bool { return described.GroupKind() == kind })
	})
	return true
}

// Created records the response to a create.
func (m *Memory) Created(kind schema.GroupKind, answer metav1.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrote(kind, answer, written{})
}

// Patched records the response to a change of an object's metadata.
func (m *Memory) Patched(kind schema.GroupKind, answer metav1.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrote(kind, answer, m.written[answer.GetUID()])
}

// Applied records the response to an apply to an object at a resource version. An apply that
// changed nothing proves that the object is up to date, whatever it looks like.
func (m *Memory) Applied(act action.ApplyObject, answer metav1.Object, version string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, next := m.written[act.At.UID], written{}
	if answer.GetResourceVersion() == version {
		next.settled, next.inputs = version, act.Object.GetAnnotations()[v1.ObjectInputsAnnotation]
	}
	if act.Corrects {
		next.corrections, next.correctedAt = 1, now
		if now.Sub(was.correctedAt) < 2*longestCorrection {
			next.corrections = was.corrections + 1
		}
	}
	m.wrote(act.Object.GroupVersionKind().GroupKind(), answer, next)
}

func (m *Memory) wrote(kind schema.GroupKind, answer metav1.Object, now written) {
	if m.written == nil {
		m.written = map[types.UID]written{}
	}
	now.ours, _, _ = managed(answer.GetManagedFields())
	now.made = answer.GetAnnotations()[v1.ObjectInputsAnnotation]
	m.written[answer.GetUID()] = now
	m.await(kind, answer.GetResourceVersion())
}

// Deleted records that an object was deleted, until the cache shows it.
func (m *Memory) Deleted(kind schema.GroupKind, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deleted == nil {
		m.deleted = map[types.UID]schema.GroupKind{}
	}
	m.deleted[uid] = kind
	delete(m.written, uid)
}

// markDeleted marks objects as terminating that were deleted and that a cache still shows
// unchanged. It forgets objects that the cache no longer shows, if all objects of their kind are
// known.
func (m *Memory) markDeleted(world *plan.World) {
	m.mu.Lock()
	defer m.mu.Unlock()
	shown := map[types.UID]bool{}
	for _, object := range world.Objects {
		if _, is := m.deleted[object.UID]; !is {
			continue
		}
		shown[object.UID] = true
		if object.DeletionTimestamp == nil {
			object.DeletionTimestamp = &metav1.Time{Time: world.Now}
		}
	}
	maps.DeleteFunc(m.deleted, func(uid types.UID, kind schema.GroupKind) bool { return !shown[uid] && world.Kinds[kind].Known })
}

// await records that the cache of a kind must reach a resource version.
func (m *Memory) await(kind schema.GroupKind, version string) {
	if m.versions == nil {
		m.versions = map[schema.GroupKind]string{}
	}
	if before, ok := m.versions[kind]; !ok || !hostread.HasReached(before, version) {
		m.versions[kind] = version
	}
}

// shows reports whether a cache at a version shows all writes.
func (m *Memory) shows(kind schema.GroupKind, version string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	wrote, awaits := m.versions[kind]
	if !awaits || hostread.HasReached(version, wrote) {
		delete(m.versions, kind)
		return true
	}
	return false
}

// awaitsWrites reports whether the caches do not show some write yet.
func (m *Memory) awaitsWrites() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.versions) > 0
}

// detectDrift sets whether another client has changed an object since it was written. This term may
// not have written the object, or another controller of this server may have written it later with
// other inputs. In these cases, the times of changes decide, and only once.
func (m *Memory) detectDrift(object *tracked, shown *plan.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, known := m.written[object.UID]
	switch {
	case known && was.settled == object.ResourceVersion:
		shown.Settled = was.inputs
	case known && was.made == object.Annotations[v1.ObjectInputsAnnotation]:
		shown.Drifted = was.ours != object.ours
	default:
		shown.Drifted = object.later
	}
	if shown.Drifted {
		shown.DriftedBy = object.by
	}
	if was.corrections > 0 {
		shown.NotBefore = was.correctedAt.Add(min(shortestCorrection<<min(was.corrections-1, 10), longestCorrection))
	}
}

// NextSync is how long to wait before checking whether the caches show all writes, and whether
// names that are in use have become free; zero if neither is needed.
func (m *Memory) NextSync() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case len(m.nameConflicts) > 0, m.unread, m.lost:
		return recheckInterval
	case len(m.versions) > 0:
		return staleInterval
	default:
		return 0
	}
}
