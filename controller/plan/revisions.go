// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// hashLabel is the label of a revision with the hash that is also in its name.
const hashLabel = "controller.kubernetes.io/hash"

// revision is a recorded template, or one about to be recorded.
type revision struct {
	name string
	data []byte
	// version identifies the object with the template; it is not set for the update revision, whose
	// template the set has.
	version version
}

// revisions are the recorded templates of the set, the latest last.
type revisions []*appsv1.ControllerRevision

func sortRevisions(all []*appsv1.ControllerRevision) revisions {
	slices.SortFunc(all, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// index is the position of the revision with a name, -1 if there is none.
func (r revisions) index(name string) int {
	return slices.IndexFunc(r, func(known *appsv1.ControllerRevision) bool { return known.Name == name })
}

func (r revisions) latest() *appsv1.ControllerRevision {
	if len(r) == 0 {
		return nil
	}
	return r[len(r)-1]
}

// next is the number that the next revision gets.
func (r revisions) next() int64 {
	if latest := r.latest(); latest != nil {
		return latest.Revision + 1
	}
	return 1
}

func revisionHash(data []byte, collisions int32) string {
	hash := fnv.New32()
	hash.Write(data)
	hash.Write([]byte(strconv.FormatInt(int64(collisions), 10)))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10))
}

// findRevisions finds the update revision, which has the current template of the set, and the
// current revision, which members have until an update reaches them.
func (f *facts) findRevisions(selector labels.Selector, reads *reader) {
	var own []*appsv1.ControllerRevision
	for _, r := range f.world.Revisions {
		controller := metav1.GetControllerOfNoCopy(r)
		if (controller == nil || controller.UID == f.world.Set.UID) && selector.Matches(labels.Set(r.Labels)) {
			own = append(own, r)
		}
	}
	f.history = sortRevisions(own)
	if f.world.Set.Status.CollisionCount != nil {
		f.collisions = *f.world.Set.Status.CollisionCount
	}
	f.update = f.recorded(identity.RevisionData(identity.SourceOf(f.world.Set)), reads)
	f.current = f.update
	for _, r := range f.history {
		if r.Name == f.world.Set.Status.CurrentRevision && r.Name != f.update.name {
			f.current = &revision{name: r.Name, data: r.Data.Raw, version: versionOf(r)}
		}
	}
}

// recorded finds the revision that records the template of the set, or the name for a new one. A
// record that differs only in its encoding (by another release, or before a default was known) is
// the same revision: an encoding is no reason to restart members. Among several records, one that
// pods run has preference, for the same reason; then the one that the status names, so that the
// choice is stable; then one that is identical byte for byte; then the latest.
func (f *facts) recorded(data []byte, reads *reader) *revision {
	var found *revision
	best := 0
	for i, r := range slices.Backward(f.history) {
		inUse, equal := f.podsAtRevision[r.Name] > 0, bytes.Equal(r.Data.Raw, data)
		if !equal && (!inUse && i < len(f.history)-1 || reads.digest(r) != sha256.Sum256(data)) {
			continue
		}
		if score := 1 + 4*boolToInt(inUse) + 2*boolToInt(r.Name == f.world.Set.Status.UpdateRevision) + boolToInt(equal); score > best {
			found, best = &revision{name: r.Name, data: data}, score
		}
	}
	if found != nil {
		return found
	}
	return &revision{name: f.freeName(data), data: data}
}

func boolToInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// freeName is the name under which a template can be recorded. A record of the same template counts
// as free, regardless of its owner: the name leads to the right data. A record of another template
// is a hash collision.
func (f *facts) freeName(data []byte) string {
	for {
		name := identity.RevisionName(f.world.Set.Name, revisionHash(data, f.collisions))
		taken := slices.IndexFunc(f.world.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == name })
		if taken < 0 || bytes.Equal(f.world.Revisions[taken].Data.Raw, data) {
			return name
		}
		f.collisions++
	}
}

// Cache is what a plan passes to the next plan of the same set: how often in a row the pods of its
// members have ended, and what the planner has read from revisions. To read revisions again would
// be most of the cost of a sync during an update; no decision depends on what was read. The zero
// value is empty.
//
// For a revision that is only compared with the current template, only a digest is kept: there may
// be as many revisions as members, and a decoded template may need a thousand times the memory of
// its encoding.
type Cache struct {
	digests map[version]digest
	sources map[version]identity.Source
	// endings are those of the set with this UID.
	endings map[int]ending
	set     types.UID
}

// IsEmpty reports whether the cache is empty.
func (r Cache) IsEmpty() bool { return len(r.digests)+len(r.sources)+len(r.endings) == 0 }

func (r Cache) with(set types.UID, endings map[int]ending) Cache {
	if len(endings) > 0 {
		r.set, r.endings = set, endings
	}
	return r
}

// version is a version of a revision object. As long as it stays the same, so does the recorded
// template.
type version struct {
	uid             types.UID
	resourceVersion string
}

func versionOf(r *appsv1.ControllerRevision) version { return version{r.UID, r.ResourceVersion} }

// digest is the digest of a template in the encoding of this release, zero if the template cannot
// be read.
type digest = [sha256.Size]byte

// reader reads what revisions record, unless an earlier sync has read it.
type reader struct {
	known, read Cache
	// objects are the objects that must be read.
	objects []ObjectRead
}

// digest is the digest of a recorded template, read and defaulted by this release.
func (r *reader) digest(of *appsv1.ControllerRevision) digest {
	at := versionOf(of)
	found, ok := r.known.digests[at]
	if !ok {
		found = digestOf(of.Data.Raw)
	}
	if r.read.digests == nil {
		r.read.digests = map[version]digest{}
	}
	r.read.digests[at] = found
	return found
}

func digestOf(data []byte) digest {
	source, err := identity.Recorded(data)
	if err != nil {
		return digest{}
	}
	return sha256.Sum256(identity.RevisionData(defaulted(source)))
}

// defaulted is the source of a revision with the defaults of this release.
func defaulted(source identity.Source) identity.Source {
	restored := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Template: *source.Template, Identity: source.Identity}}
	v1.SetObjectDefaults_StatefulSet(restored)
	return identity.SourceOf(restored)
}

// source is the source that a revision records, without further defaults.
func (r *reader) source(of *revision) (identity.Source, error) {
	found := cmp.Or(r.read.sources[of.version], r.known.sources[of.version])
	if found.Template == nil {
		var err error
		if found, err = identity.Recorded(of.data); err != nil {
			return identity.Source{}, err
		}
	}
	if r.read.sources == nil {
		r.read.sources = map[version]identity.Source{}
	}
	r.read.sources[of.version] = found
	return found, nil
}

// recordTemplate plans what makes the record complete: adopt the revisions that an earlier owner
// left, record a new template, and make its revision the latest. After an adoption, nothing else
// can be decided about the revision until the cache shows it.
func recordTemplate(f *facts, d *draft) verdict {
	adopted := false
	for _, r := range f.history {
		if metav1.GetControllerOfNoCopy(r) == nil {
			adopted = true
			d.add(action.AdoptRevision{Revision: action.Exact(r)})
		}
	}
	if adopted {
		return stop
	}

	index := f.history.index(f.update.name)
	known := slices.ContainsFunc(f.world.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == f.update.name })
	switch {
	case index == len(f.history)-1 && index >= 0:
	case index >= 0:
		d.addFirst(action.RaiseRevision{Revision: action.Exact(f.history[index]), To: f.history.next()})
	case !known:
		d.addFirst(action.CreateRevision{Revision: f.newRevision()})
	}
	return proceed
}

// newRevision is the record of the current template. Its hash label has the hash that the name
// would have without collisions, as in apps/v1.
func (f *facts) newRevision() *appsv1.ControllerRevision {
	var before int32
	if f.world.Set.Status.CollisionCount != nil {
		before = *f.world.Set.Status.CollisionCount
	}
	r := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name:            f.update.name,
			Namespace:       f.world.Set.Namespace,
			Labels:          map[string]string{},
			Annotations:     maps.Clone(f.world.Set.Annotations),
			OwnerReferences: []metav1.OwnerReference{identity.Owner(f.world.Set)},
		},
		Data:     runtime.RawExtension{Raw: f.update.data},
		Revision: f.history.next(),
	}
	maps.Copy(r.Labels, f.world.Set.Spec.Template.Labels)
	r.Labels[hashLabel] = revisionHash(f.update.data, before)
	return r
}

// truncateHistory plans to delete the oldest unused revisions, until no more than the limit are
// left.
func truncateHistory(f *facts, d *draft) verdict {
	limit := len(f.history)
	if f.world.Set.Spec.RevisionHistoryLimit != nil {
		limit = int(*f.world.Set.Spec.RevisionHistoryLimit)
	}
	if limit < 0 || len(f.history) <= limit {
		return proceed
	}
	live := map[string]bool{f.current.name: true, f.update.name: true}
	for _, pod := range f.world.Pods {
		live[revisionOf(pod)] = true
	}
	var dead []*appsv1.ControllerRevision
	for _, r := range f.history {
		if !live[r.Name] {
			dead = append(dead, r)
		}
	}
	for _, r := range dead[:max(len(dead)-limit, 0)] {
		d.finally = append(d.finally, action.Chain{action.DeleteRevision{Revision: action.Exact(r)}})
	}
	return proceed
}

// awaitRevisions stops while a revision that the set's pods run, or that its status names as the
// current one, still belongs to another controller: a set of this name has left its pods behind,
// and is about to release its revisions. Until then, the template might be recorded a second time
// under another name, and pods would be replaced without need.
func awaitRevisions(f *facts, d *draft) verdict {
	if f.awaiting == nil {
		return proceed
	}
	controller := metav1.GetControllerOfNoCopy(f.awaiting)
	d.wait("revision %s, which the set's pods run, is still owned by %s; the controller waits until that owner releases it",
		f.awaiting.Name, words.SanitizeOwner(controller))
	return stop
}

// freezeRevisions keeps the revisions that the status names: another program may write those of a
// suspended set, and those of a set that waits for revisions are not known.
func (f *facts) freezeRevisions() {
	f.awaiting = f.awaited()
	if f.isFrozen() {
		f.current, f.update = &revision{name: f.world.Set.Status.CurrentRevision}, &revision{name: f.world.Set.Status.UpdateRevision}
	}
}

// awaited is the first of the revisions that their owner has to release before anything can be
// decided, nil if there is none.
func (f *facts) awaited() *appsv1.ControllerRevision {
	var first *appsv1.ControllerRevision
	for _, r := range f.world.Revisions {
		controller := metav1.GetControllerOfNoCopy(r)
		if controller != nil && controller.UID != f.world.Set.UID &&
			(f.podsAtRevision[r.Name] > 0 || r.Name == f.world.Set.Status.CurrentRevision) &&
			(r.Name != f.update.name || len(f.adopt) > 0) && (first == nil || r.Name < first.Name) {
			first = r
		}
	}
	return first
}
