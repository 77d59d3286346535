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

// A correction of what somebody else has changed is followed by the next one after a delay from
// the shortest to the longest.
const (
	shortestCorrection = 5 * time.Second
	longestCorrection  = 5 * time.Minute
)

const (
	// recheckInterval is how often the host is asked again for what cannot be watched.
	recheckInterval = 15 * time.Second
	// staleInterval is how often a set that waits for the caches to show its own writes is synced although no
	// event woke it: a bookmark does not.
	staleInterval = 30 * time.Second
)

// written is what is remembered of an object that was written.
type written struct {
	// ours is the digest of the fields that the controller managed after that, made the inputs that the
	// object was of then.
	ours, made string
	// settled is the resource version at which applying the inputs has changed nothing.
	settled, inputs string
	// corrections are how often in a row it was corrected, and correctedAt when last.
	corrections int
	correctedAt time.Time
}

// Memory is what is remembered of the objects of a set, from one sync to the next. Its zero value remembers
// nothing. Its methods may be called at the same time.
type Memory struct {
	mu sync.Mutex
	remembered
}

type remembered struct {
	// of is what the set was when it was last observed.
	of incarnation
	// versions are the highest resource versions written, by kind.
	versions map[schema.GroupKind]string
	written  map[types.UID]written
	// deleted are those that were deleted and that the cache may still show.
	deleted map[types.UID]schema.GroupKind
	taken   map[takenName]takenObject
	// expected are the kinds of which names were noted that others have, as the status says.
	expected map[schema.GroupKind]bool
	// outputs are what objects give, as they were read, awaited those that lack what a pod needs, and
	// unread is true if one could not be read (outputs.go).
	outputs map[types.UID]readOutputs
	awaited map[identity.ObjectKey]bool
	unread  bool
	// lost is true if Secrets are gone that are not drawn again, which are sought now and then.
	lost     bool
	soughtAt time.Time
}

// incarnation is a set as the user last wanted it.
type incarnation struct {
	uid        types.UID
	generation int64
}

// Forget drops all that is remembered, because the set is gone.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remembered = remembered{}
}

// observes forgets what concerns templates that a set has no more: names that were taken are
// found out again, and of kinds that it does not describe nothing is awaited. It reports whether the set has
// changed since it was last observed.
func (m *Memory) observes(set *v1.StatefulSet, kinds []schema.GroupVersionKind) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := incarnation{set.UID, set.Generation}
	if len(kinds) == 0 {
		m.remembered = remembered{of: now}
		return false
	}
	if m.of == now {
		return false
	}
	m.of, m.taken, m.expected = now, nil, nil
	m.outputs, m.awaited, m.unread, m.lost = nil, nil, false, false
	maps.DeleteFunc(m.versions, func(kind schema.GroupKind, _ string) bool {
		return !slices.ContainsFunc(kinds, func(described schema.GroupVersionKind) bool { return described.GroupKind() == kind })
	})
	return true
}

// Created notes what a create was answered with.
func (m *Memory) Created(kind schema.GroupKind, answer metav1.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrote(kind, answer, written{})
}

// Patched notes what a change of the metadata of an object was answered with.
func (m *Memory) Patched(kind schema.GroupKind, answer metav1.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrote(kind, answer, m.written[answer.GetUID()])
}

// Applied notes what an apply to an object of a resource version was answered with. One that has changed nothing
// settles the matter, whatever the object is like.
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

// Deleted notes that an object was deleted, until the cache shows it.
func (m *Memory) Deleted(kind schema.GroupKind, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deleted == nil {
		m.deleted = map[types.UID]schema.GroupKind{}
	}
	m.deleted[uid] = kind
	delete(m.written, uid)
}

// showDeleted has objects look as if they were terminating that were deleted, and that a cache still
// shows as they were. What no cache shows any more is forgotten, if all of its kind is known.
func (m *Memory) showDeleted(world *plan.World) {
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

// await notes that the cache of a kind has to come to a resource version.
func (m *Memory) await(kind schema.GroupKind, version string) {
	if m.versions == nil {
		m.versions = map[schema.GroupKind]string{}
	}
	if before, ok := m.versions[kind]; !ok || !hostread.Reached(before, version) {
		m.versions[kind] = version
	}
}

// shows reports whether a cache that has come to a version shows what was written.
func (m *Memory) shows(kind schema.GroupKind, version string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	wrote, awaits := m.versions[kind]
	if !awaits || hostread.Reached(version, wrote) {
		delete(m.versions, kind)
		return true
	}
	return false
}

// awaitsWrites reports whether something that was written is yet to be seen.
func (m *Memory) awaitsWrites() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.versions) > 0
}

// judge says whether somebody has changed an object since it was written. Of one that this
// term has not written, or that another controller of this server has made of other inputs since, that
// is told from when others have changed it, and once.
func (m *Memory) judge(object *tracked, shown *plan.Object) {
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

// NextSync is in how long to see whether the caches have come to what was written, and names
// that are taken have become free; zero if there is nothing of the kind.
func (m *Memory) NextSync() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case len(m.taken) > 0, m.unread, m.lost:
		return recheckInterval
	case len(m.versions) > 0:
		return staleInterval
	default:
		return 0
	}
}
