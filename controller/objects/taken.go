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

// takenName is the name of an object that could not be created, because there is one.
type takenName struct {
	kind schema.GroupKind
	name string
}

// takenObject is such an object as it was seen last; before the first look it has no time. One
// that lacks the label that we watch by is read from the host, now and then.
type takenObject struct {
	object *tracked
	at     time.Time
}

// NameTaken notes that a name is taken by an object that has yet to be looked at.
func (m *Memory) NameTaken(kind schema.GroupKind, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken == nil {
		m.taken = map[takenName]takenObject{}
	}
	m.taken[takenName{kind, name}] = takenObject{}
}

// expectsTaken reports whether it is the first time that it is asked for a kind, for what the set is now.
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
	// recheckedPerSync is how many objects of a kind that cannot be watched are read again in one sync, and
	// recheckedAtOnce how many of these requests are under way.
	recheckedPerSync = 32
	recheckedAtOnce  = 16
)

// mostExpected is how many names are expected to be taken: they are read in one look.
const mostExpected = 64

// expectTaken notes names that others have, if the status counts some, so that they are looked at
// before anything is planned. A controller that begins would find them to be taken only by creating
// objects, and say until then that these are missing.
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

// ordinalsOf are those of which a template describes objects that are to be there: of members that
// have a pod, and any one for the set.
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

// sawTaken notes what a look has shown, nothing if the name is free.
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

// TakenChanged makes an object be looked at again that has taken a name and is not as it was seen.
func (m *Memory) TakenChanged(kind schema.GroupKind, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.taken[takenName{kind, name}]; ok {
		m.taken[takenName{kind, name}] = takenObject{}
	}
}

// takenOf are the names of a kind that are taken, and those among them to look at now.
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

// readTaken adds to a world the objects that took names of the set's. What the cache has is not
// read, whosever it is. As long as one cannot be read, its kind counts as not known to this set, which
// holds up what needs an object of it and nothing else.
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
			memory.TakenChanged(name.kind, name.name) // it was in the cache
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
		klog.FromContext(ctx).V(2).Info("Waiting for objects that took names", "set", klog.KObj(world.Set), "cause", err)
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
		world.Kinds[watched.kind.gvk.GroupKind()] = plan.Kind{} // the cache is behind what was read
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
		// The cache is only behind.
		memory.mu.Lock()
		memory.await(name.kind, live.ResourceVersion)
		memory.mu.Unlock()
	default:
		object, _ := track(live).(*tracked)
		memory.sawTaken(name, object, w.config.Clock.Now())
	}
	return nil
}
