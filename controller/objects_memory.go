// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// A correction of what somebody else has changed is followed by the next one after a delay from
// the shortest to the longest.
const (
	shortestCorrection = 5 * time.Second
	longestCorrection  = 5 * time.Minute
)

// tracked is what the caches keep of an object that templates describe.
type tracked struct {
	metav1.ObjectMeta

	// ours is a digest of the fields that the controller manages, empty if it manages none.
	ours string
	// by is who else has changed the object last, later is true if that may have been after we did:
	// times are in whole seconds.
	by    string
	later bool
}

// track is what is kept of an object.
func track(object any) any {
	about, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object
	}
	kept := &tracked{ObjectMeta: hostread.TrimMeta(&about.ObjectMeta)}
	for key, value := range about.Annotations {
		if identity.IsReserved(key) {
			if kept.Annotations == nil {
				kept.Annotations = map[string]string{}
			}
			kept.Annotations[key] = value
		}
	}
	kept.ManagedFields = plan.TrimManagedFields(about)
	kept.ours, kept.by, kept.later = managed(about.ManagedFields)
	return kept
}

// managed reads who manages which fields. What others write as the status says nothing. An object that
// was created, and one that was applied, have the same fields of ours, in entries that differ.
func managed(entries []metav1.ManagedFieldsEntry) (ours, by string, later bool) {
	fields, has := fieldpath.NewSet(), false
	var at, theirs time.Time
	for _, entry := range entries {
		when := time.Time{}
		if entry.Time != nil {
			when = entry.Time.Time
		}
		switch {
		case entry.Subresource != "":
		case entry.Manager == objectManager, entry.Manager == generateManager:
			has = true
			if of, err := fieldsOf(entry); err == nil {
				fields = fields.Union(of)
			}
			at = latest(at, when)
		case by == "" || when.After(theirs):
			by, theirs = entry.Manager, when
		}
	}
	if !has {
		return "", by, false
	}
	return digestOf(fields), by, by != "" && !theirs.Before(at)
}

func digestOf(fields *fieldpath.Set) string {
	text, err := fields.Leaves().ToJSON()
	if err != nil {
		text = []byte(err.Error()) // of what the host has sent as JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// differs reports whether two states of an object are different for the planner.
func (o *tracked) differs(other *tracked) bool {
	return o.ours != other.ours || o.by != other.by || o.later != other.later || hostread.MetaChanged(o.ObjectMeta, other.ObjectMeta) ||
		!equality.Semantic.DeepEqual(o.Annotations, other.Annotations)
}

// writtenObject is what is remembered of an object that was written.
type writtenObject struct {
	// ours is the digest of the fields that the controller managed after that, made the inputs that the
	// object was of then.
	ours, made string
	// settled is the resource version at which applying the inputs has changed nothing.
	settled, inputs string
	// corrections are how often in a row it was corrected, and correctedAt when last.
	corrections int
	correctedAt time.Time
}

// objectsMemo is what is remembered of the objects of a set.
type objectsMemo struct {
	// of is what the set was when it was last observed.
	of incarnation
	// versions are the highest resource versions written, by kind.
	versions map[schema.GroupKind]string
	written  map[types.UID]writtenObject
	// deleted are those that were deleted and that the cache may still show.
	deleted map[types.UID]schema.GroupKind
	taken   map[takenName]takenObject
	// expected are the kinds of which names were noted that others have, as the status says.
	expected map[schema.GroupKind]bool
	// outputs are what objects give, as they were read, awaited those that lack what a pod needs, and
	// unread is true if one could not be read (objects_outputs.go).
	outputs map[types.UID]readOutputs
	awaited map[identity.ObjectKey]bool
	unread  bool
	// lost is true if Secrets are gone that are not drawn again, which are sought now and then.
	lost     bool
	soughtAt time.Time
}

// observesObjects forgets what concerns templates that a set has no more: names that were taken are
// found out again, and of kinds that it does not describe nothing is awaited. It reports whether the set has
// changed since it was last observed.
func (m *memo) observesObjects(set *v1.StatefulSet, kinds []schema.GroupVersionKind) (changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := incarnation{set.UID, set.Generation}
	if len(kinds) == 0 {
		m.objects = objectsMemo{of: now}
		return false
	}
	if m.objects.of == now {
		return false
	}
	m.objects.of, m.objects.taken, m.objects.expected = now, nil, nil
	m.objects.outputs, m.objects.awaited, m.objects.unread, m.objects.lost = nil, nil, false, false
	maps.DeleteFunc(m.objects.versions, func(kind schema.GroupKind, _ string) bool {
		return !slices.ContainsFunc(kinds, func(described schema.GroupVersionKind) bool { return described.GroupKind() == kind })
	})
	return true
}

// wroteObject notes what a create or an apply was answered with.
func (m *memo) wroteObject(kind schema.GroupKind, answer metav1.Object, written writtenObject) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects.written == nil {
		m.objects.written = map[types.UID]writtenObject{}
	}
	written.ours, _, _ = managed(answer.GetManagedFields())
	written.made = answer.GetAnnotations()[v1.ObjectInputsAnnotation]
	m.objects.written[answer.GetUID()] = written
	m.awaitObjects(kind, answer.GetResourceVersion())
}

// deletedObject notes that an object was deleted, until the cache shows it.
func (m *memo) deletedObject(kind schema.GroupKind, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects.deleted == nil {
		m.objects.deleted = map[types.UID]schema.GroupKind{}
	}
	m.objects.deleted[uid] = kind
	delete(m.objects.written, uid)
}

// showDeleted has objects look as if they were terminating that were deleted, and that a cache still
// shows as they were. What no cache shows any more is forgotten, if all of its kind is known.
func (m *memo) showDeleted(world *plan.World) {
	m.mu.Lock()
	defer m.mu.Unlock()
	shown := map[types.UID]bool{}
	for _, object := range world.Objects {
		if _, is := m.objects.deleted[object.UID]; !is {
			continue
		}
		shown[object.UID] = true
		if object.DeletionTimestamp == nil {
			object.DeletionTimestamp = &metav1.Time{Time: world.Now}
		}
	}
	maps.DeleteFunc(m.objects.deleted, func(uid types.UID, kind schema.GroupKind) bool { return !shown[uid] && world.Kinds[kind].Known })
}

// awaitObjects notes that the cache of a kind has to come to a resource version.
func (m *memo) awaitObjects(kind schema.GroupKind, version string) {
	if m.objects.versions == nil {
		m.objects.versions = map[schema.GroupKind]string{}
	}
	if before, ok := m.objects.versions[kind]; !ok || !hostread.Reached(before, version) {
		m.objects.versions[kind] = version
	}
}

// showsObjects reports whether a cache that has come to a version shows what was written.
func (m *memo) showsObjects(kind schema.GroupKind, version string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	wrote, awaits := m.objects.versions[kind]
	if !awaits || hostread.Reached(version, wrote) {
		delete(m.objects.versions, kind)
		return true
	}
	return false
}

// awaitsObjects reports whether something that was written is yet to be seen.
func (m *memo) awaitsObjects() bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.objects.versions) > 0
}

// written is what is remembered of an object.
func (m *memo) written(uid types.UID) writtenObject {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects.written[uid]
}

// judgeObject says whether somebody has changed an object since it was written. Of one that this
// term has not written, or that another controller of this server has made of other inputs since, that
// is told from when others have changed it, and once.
func (m *memo) judgeObject(object *tracked, shown *plan.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, known := m.objects.written[object.UID]
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

// nextLookAtObjects is when to see whether the caches have come to what was written, and names
// that are taken have become free; zero if there is nothing of the kind.
func (m *memo) nextLookAtObjects() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case len(m.objects.taken) > 0, m.objects.unread, m.objects.lost:
		return unlabeledPodsInterval
	case len(m.objects.versions) > 0:
		return staleViewInterval
	default:
		return 0
	}
}
