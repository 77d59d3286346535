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

// takenName is the name of an object that could not be created because the name is in use.
type takenName struct {
	kind schema.GroupKind
	name string
}

// takenObject is the object that uses the name, as it was last read. The time is zero before the
// first read. If the object lacks the label by which the controller watches objects, it is read
// from the cluster from time to time.
type takenObject struct {
	object *tracked
	at     time.Time
}

// NameTaken records that a name is in use by an object that must be read.
func (m *Memory) NameTaken(kind schema.GroupKind, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken == nil {
		m.taken = map[takenName]takenObject{}
	}
	m.taken[takenName{kind, name}] = takenObject{}
}

// expectsTaken reports whether it is called for the first time for a kind and the current version
// of the set.
func (m *Memory) expectsTaken(kind schema.GroupKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.expected[kind] {
		return false
	}
	if m.expected == nil {
		m.expected = map[schema.GroupKind]bool{}
	}
	m.expected[kind] = true
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

// expectTaken records names that other objects use, if the status counts such objects, so that
// these are read before anything is planned. Otherwise a new leader would detect them only by
// trying to create objects, and would report the objects as missing until then.
func (m *Memory) expectTaken(watched *namespaceWatch, world *plan.World) {
	counted := slices.ContainsFunc(world.Set.Status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool { return s.Foreign > 0 })
	if !m.expectsTaken(watched.kind.gvk.GroupKind()) || !counted {
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
				m.NameTaken(watched.kind.gvk.GroupKind(), name)
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

// sawTaken records what was read, nothing if the name is free.
func (m *Memory) sawTaken(name takenName, object *tracked, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if object == nil {
		delete(m.taken, name)
		return
	}
	if _, ok := m.taken[name]; ok {
		m.taken[name] = takenObject{object, at}
	}
}

// TakenChanged makes the next sync read an object again that uses a name and has changed.
func (m *Memory) TakenChanged(kind schema.GroupKind, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.taken[takenName{kind, name}]; ok {
		m.taken[takenName{kind, name}] = takenObject{}
	}
}

// takenOf are the names of a kind that are in use, and those among them that must be read now.
func (m *Memory) takenOf(kind schema.GroupKind, now time.Time) (all map[takenName]*tracked, due []takenName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all = map[takenName]*tracked{}
	again := 0
	for name, last := range m.taken {
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

// readTaken adds to a world the objects that use names of the set's objects. It does not read an
// object that is in the cache, whatever owns it. While one of them cannot be read, its kind counts
// as unknown for this set, which delays only what needs an object of the kind.
func (w *Watcher) readTaken(ctx context.Context, memory *Memory, watched *namespaceWatch, world *plan.World) {
	now := w.config.Clock.Now()
	all, _ := memory.takenOf(watched.kind.gvk.GroupKind(), now)
	for name, last := range all {
		cached, ok := watched.named(world.Set.Namespace, name.name)
		switch {
		case ok && cached.Labels[v1.ObjectSetLabel] == world.Set.Name:
			memory.sawTaken(name, nil, now)
		case ok:
			memory.sawTaken(name, cached, now)
		case last != nil && last.Labels[v1.ObjectSetLabel] != "":
			memory.TakenChanged(name.kind, name.name) // it was in the cache before
		}
	}
	_, due := memory.takenOf(watched.kind.gvk.GroupKind(), now)
	err := errors.Join(hostread.InParallel(ctx, len(due), recheckedAtOnce, func(i int) error {
		if _, ok := watched.named(world.Set.Namespace, due[i].name); ok {
			return nil
		}
		return w.lookAtTaken(ctx, memory, watched, world.Set.Namespace, due[i])
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
	all, _ = memory.takenOf(watched.kind.gvk.GroupKind(), now)
	for name, object := range all {
		if object != nil {
			world.Objects[identity.ObjectKey{Group: name.kind.Group, Kind: name.kind.Kind, Name: name.name}] = w.seen(memory, world.Set, object)
		}
	}
	if !memory.shows(watched.kind.gvk.GroupKind(), watched.version()) {
		world.Kinds[watched.kind.gvk.GroupKind()] = plan.Kind{} // the cache is older than what was read
	}
}

// lookAtTaken reads an object that is not in the cache.
func (w *Watcher) lookAtTaken(ctx context.Context, memory *Memory, watched *namespaceWatch, namespace string, name takenName) error {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	objects, ok := watched.kind.about(namespace)
	if !ok {
		return nil
	}
	live, err := hostread.Again(ctx, w.config.Clock, func(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
		return objects.Get(ctx, name.name, metav1.GetOptions{})
	})
	switch {
	case apierrors.IsNotFound(err):
		memory.sawTaken(name, nil, time.Time{})
	case err != nil:
		return fmt.Errorf("reading %s %q: %w", name.kind.Kind, name.name, err)
	case live.Labels[v1.ObjectSetLabel] != "":
		// The cache is just not up to date yet.
		memory.mu.Lock()
		memory.await(name.kind, live.ResourceVersion)
		memory.mu.Unlock()
	default:
		object, _ := track(live).(*tracked)
		memory.sawTaken(name, object, w.config.Clock.Now())
	}
	return nil
}
