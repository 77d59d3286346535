// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// conflictKey is the name of an object that could not be created because the name is in use.
type conflictKey struct {
	kind schema.GroupKind
	name string
}

// nameConflict is the object that uses the name, as it was last read. The time is zero before the
// first read. If the object lacks the label by which the controller watches objects, it is read
// from the cluster from time to time.
type nameConflict struct {
	object *tracked
	at     time.Time
}

// AddNameConflict records that a name is in use by an object that must be read.
func (m *Memory) AddNameConflict(kind schema.GroupKind, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nameConflicts == nil {
		m.nameConflicts = map[conflictKey]nameConflict{}
	}
	m.nameConflicts[conflictKey{kind, name}] = nameConflict{}
}

// beginConflictRecording reports whether the conflicts of a kind must be recorded now. It returns
// true only at its first call for a kind and the current version of the set.
func (m *Memory) beginConflictRecording(kind schema.GroupKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conflictsRecorded[kind] {
		return false
	}
	if m.conflictsRecorded == nil {
		m.conflictsRecorded = map[schema.GroupKind]bool{}
	}
	m.conflictsRecorded[kind] = true
	return true
}

const (
	// recheckedPerSync is how many objects of a kind that cannot be watched are read again in one
	// sync, and recheckedAtOnce how many of these requests run at the same time.
	recheckedPerSync = 32
	recheckedAtOnce  = 16
)

// mostExpected limits how many names are expected to be in use: all are read in one sync.
const mostExpected = 64

// recordExpectedConflicts records names that other objects use, if the status counts such objects,
// so that these are read before anything is planned. Otherwise a new leader would detect them only
// by trying to create objects, and would report the objects as missing until then.
func (m *Memory) recordExpectedConflicts(watched *namespaceWatch, world *plan.World) {
	counted := slices.ContainsFunc(world.Set.Status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool { return s.Foreign > 0 })
	if !m.beginConflictRecording(watched.kind.gvk.GroupKind()) || !counted {
		return
	}
	templates, wrong := identity.OverridesOf(world.Set).Objects()
	if wrong != nil {
		return
	}
	noted := 0
	for _, template := range templates {
		if template.Kind().GroupKind() != watched.kind.gvk.GroupKind() {
			continue
		}
		for _, ordinal := range ordinalsOf(template, world) {
			name := template.Key(ordinal).Name
			cached, ok := watched.named(world.Set.Namespace, name)
			if noted < mostExpected && (!ok || cached.Labels[v1.ObjectSetLabel] != world.Set.Name) {
				m.AddNameConflict(watched.kind.gvk.GroupKind(), name)
				noted++
			}
		}
	}
}

// ordinalsOf are the ordinals for which a template describes objects that must exist: those of
// members that have a pod, or any one ordinal for an object of the set.
func ordinalsOf(template identity.Object, world *plan.World) (ordinals []int) {
	if template.ForSet() {
		return []int{0}
	}
	wanted := identity.OrdinalsOf(world.Set)
	for _, pod := range world.Pods {
		if set, ordinal, ok := identity.ParsePodName(pod.Name); ok && set == world.Set.Name && wanted.Contains(ordinal) {
			ordinals = append(ordinals, ordinal)
		}
	}
	return ordinals
}

// updateNameConflict records the object that was read, and drops the conflict if the name is free.
func (m *Memory) updateNameConflict(name conflictKey, object *tracked, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if object == nil {
		delete(m.nameConflicts, name)
		return
	}
	if _, ok := m.nameConflicts[name]; ok {
		m.nameConflicts[name] = nameConflict{object, at}
	}
}

// NameConflictChanged makes the next sync read an object again that uses a name and has changed.
func (m *Memory) NameConflictChanged(kind schema.GroupKind, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.nameConflicts[conflictKey{kind, name}]; ok {
		m.nameConflicts[conflictKey{kind, name}] = nameConflict{}
	}
}

// nameConflictsOf are the names of a kind that are in use, and those among them that must be read
// now.
func (m *Memory) nameConflictsOf(kind schema.GroupKind, now time.Time) (all map[conflictKey]*tracked, due []conflictKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all = map[conflictKey]*tracked{}
	again := 0
	for name, last := range m.nameConflicts {
		if name.kind != kind {
			continue
		}
		all[name] = last.object
		switch {
		case last.at.IsZero():
			due = append(due, name)
		case now.Sub(last.at) >= recheckInterval && again < recheckedPerSync:
			again++
			due = append(due, name)
		}
	}
	return all, due
}

// readNameConflicts adds to a world the objects that use names of the set's objects. It does not
// read an object that is in the cache, whatever owns it. While one of them cannot be read, its kind
// counts as unknown for this set, which delays only what needs an object of the kind.
func (w *Watcher) readNameConflicts(ctx context.Context, memory *Memory, watched *namespaceWatch, world *plan.World) {
	now := w.config.Clock.Now()
	all, _ := memory.nameConflictsOf(watched.kind.gvk.GroupKind(), now)
	for name, last := range all {
		cached, ok := watched.named(world.Set.Namespace, name.name)
		switch {
		case ok && cached.Labels[v1.ObjectSetLabel] == world.Set.Name:
			memory.updateNameConflict(name, nil, now)
		case ok:
			memory.updateNameConflict(name, cached, now)
		case last != nil && last.Labels[v1.ObjectSetLabel] != "":
			memory.NameConflictChanged(name.kind, name.name) // it was in the cache before
		}
	}
	_, due := memory.nameConflictsOf(watched.kind.gvk.GroupKind(), now)
	err := errors.Join(hostread.InParallel(ctx, len(due), recheckedAtOnce, func(i int) error {
		if _, ok := watched.named(world.Set.Namespace, due[i].name); ok {
			return nil
		}
		return w.readNameConflict(ctx, memory, watched, world.Set.Namespace, due[i])
	})...)
	switch {
	case apierrors.IsForbidden(err):
		world.Kinds[watched.kind.gvk.GroupKind()] = plan.Kind{Refused: plan.Cause(err)}
		return
	case err != nil:
		klog.FromContext(ctx).V(2).Info("Failed to read objects that use names of the set's objects", "set", klog.KObj(world.Set), "cause", err)
		world.Kinds[watched.kind.gvk.GroupKind()] = plan.Kind{}
		return
	}
	all, _ = memory.nameConflictsOf(watched.kind.gvk.GroupKind(), now)
	for name, object := range all {
		if object != nil {
			world.Objects[identity.ObjectKey{Group: name.kind.Group, Kind: name.kind.Kind, Name: name.name}] = w.seen(memory, world.Set, object)
		}
	}
	if !memory.shows(watched.kind.gvk.GroupKind(), watched.version()) {
		world.Kinds[watched.kind.gvk.GroupKind()] = plan.Kind{} // the cache is older than what was read
	}
}

// readNameConflict reads an object that is not in the cache.
func (w *Watcher) readNameConflict(ctx context.Context, memory *Memory, watched *namespaceWatch, namespace string, name conflictKey) error {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	objects, ok := watched.kind.about(namespace)
	if !ok {
		return nil
	}
	live, err := hostread.ReadWithRetry(ctx, w.config.Clock, func(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
		return objects.Get(ctx, name.name, metav1.GetOptions{})
	})
	switch {
	case apierrors.IsNotFound(err):
		memory.updateNameConflict(name, nil, time.Time{})
	case err != nil:
		return fmt.Errorf("reading %s %q: %w", name.kind.Kind, name.name, err)
	case live.Labels[v1.ObjectSetLabel] != "":
		// The cache is just not up to date yet.
		memory.mu.Lock()
		memory.await(name.kind, live.ResourceVersion)
		memory.mu.Unlock()
	default:
		object, _ := track(live).(*tracked)
		memory.updateNameConflict(name, object, w.config.Clock.Now())
	}
	return nil
}
