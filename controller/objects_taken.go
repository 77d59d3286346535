// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

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

// noteTaken notes that a name is taken by an object that has yet to be looked at.
func (m *memo) noteTaken(name takenName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects.taken == nil {
		m.objects.taken = map[takenName]takenObject{}
	}
	m.objects.taken[name] = takenObject{}
}

// expectsTaken reports whether it is the first time that it is asked for a kind, for what the set is now.
func (m *memo) expectsTaken(kind schema.GroupKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects.expected[kind] {
		return false
	}
	if m.objects.expected == nil {
		m.objects.expected = map[schema.GroupKind]bool{}
	}
	m.objects.expected[kind] = true
	return true
}

// mostExpected is how many names are expected to be taken: they are read in one look.
const mostExpected = 64

// expectTaken notes names that others have, if the status counts some, so that they are looked at
// before anything is planned. A controller that begins would find them to be taken only by creating
// objects, and say until then that these are missing.
func (t *term) expectTaken(known *memo, kind *objectWatch, world *plan.World) {
	counted := slices.ContainsFunc(world.Set.Status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool { return s.Foreign > 0 })
	if !known.expectsTaken(kind.kind.GroupKind()) || !counted {
		return
	}
	templates, wrong := identity.OverridesOf(world.Set).Objects()
	if wrong != nil {
		return
	}
	noted := 0
	for _, template := range templates {
		if template.Kind().GroupKind() != kind.kind.GroupKind() {
			continue
		}
		for _, ordinal := range ordinalsOf(template, world) {
			name := template.Key(ordinal).Name
			cached, ok := kind.named(world.Set.Namespace, name)
			if noted < mostExpected && (!ok || cached.Labels[v1.ObjectSetLabel] != world.Set.Name) {
				known.noteTaken(takenName{kind.kind.GroupKind(), name})
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
func (m *memo) sawTaken(name takenName, object *tracked, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if object == nil {
		delete(m.objects.taken, name)
		return
	}
	if _, ok := m.objects.taken[name]; ok {
		m.objects.taken[name] = takenObject{object, at}
	}
}

// takenChanged makes an object be looked at again that is not as it was seen.
func (m *memo) takenChanged(name takenName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects.taken[name]; ok {
		m.objects.taken[name] = takenObject{}
	}
}

// takenOf are the names of a kind that are taken, and those among them to look at now.
func (m *memo) takenOf(kind schema.GroupKind, now time.Time) (all map[takenName]*tracked, due []takenName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all = map[takenName]*tracked{}
	again := 0
	for name, last := range m.objects.taken {
		if name.kind != kind {
			continue
		}
		all[name] = last.object
		switch {
		case last.at.IsZero():
			due = append(due, name)
		case now.Sub(last.at) >= unlabeledPodsInterval && again < unlabeledPodsPerLook:
			again++
			due = append(due, name)
		}
	}
	return all, due
}

// readTaken adds to a world the objects that took names of the set's. What the cache has is not
// read, whosever it is. As long as one cannot be read, its kind counts as not known to this set, which
// holds up what needs an object of it and nothing else.
func (t *term) readTaken(ctx context.Context, known *memo, kind *objectWatch, world *plan.World) {
	now := t.Clock.Now()
	all, _ := known.takenOf(kind.kind.GroupKind(), now)
	for name, last := range all {
		cached, ok := kind.named(world.Set.Namespace, name.name)
		switch {
		case ok && cached.Labels[v1.ObjectSetLabel] == world.Set.Name:
			known.sawTaken(name, nil, now)
		case ok:
			known.sawTaken(name, cached, now)
		case last != nil && last.Labels[v1.ObjectSetLabel] != "":
			known.takenChanged(name) // it was in the cache
		}
	}
	_, due := known.takenOf(kind.kind.GroupKind(), now)
	err := errors.Join(hostread.InParallel(ctx, len(due), unlabeledPodsAtOnce, func(i int) error {
		if _, ok := kind.named(world.Set.Namespace, due[i].name); ok {
			return nil
		}
		return t.lookAtTaken(ctx, known, kind, due[i])
	})...)
	switch {
	case apierrors.IsForbidden(err):
		world.Kinds[kind.kind.GroupKind()] = plan.Kind{Refused: plan.Cause(err)}
		return
	case err != nil:
		klog.FromContext(ctx).V(2).Info("Waiting for objects that took names", "set", known.key, "cause", err)
		world.Kinds[kind.kind.GroupKind()] = plan.Kind{}
		return
	}
	all, _ = known.takenOf(kind.kind.GroupKind(), now)
	for name, object := range all {
		if object != nil {
			world.Objects[identity.ObjectKey{Group: name.kind.Group, Kind: name.kind.Kind, Name: name.name}] = t.seen(known, world.Set, object)
		}
	}
	if !known.showsObjects(kind.kind.GroupKind(), kind.informer.GetIndexer().LastStoreSyncResourceVersion()) {
		world.Kinds[kind.kind.GroupKind()] = plan.Kind{} // the cache is behind what was read
	}
}

// lookAtTaken reads an object that is not in the cache.
func (t *term) lookAtTaken(ctx context.Context, known *memo, kind *objectWatch, name takenName) error {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	objects, ok := kind.about(known.key.Namespace)
	if !ok {
		return nil
	}
	live, err := hostread.Again(ctx, t.Clock, func(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
		return objects.Get(ctx, name.name, metav1.GetOptions{})
	})
	switch {
	case apierrors.IsNotFound(err):
		known.sawTaken(name, nil, time.Time{})
	case err != nil:
		return fmt.Errorf("reading %s %q: %w", name.kind.Kind, name.name, err)
	case live.Labels[v1.ObjectSetLabel] != "":
		// The cache is only behind.
		known.mu.Lock()
		known.awaitObjects(name.kind, live.ResourceVersion)
		known.mu.Unlock()
	default:
		object, _ := track(live).(*tracked)
		known.sawTaken(name, object, t.Clock.Now())
	}
	return nil
}
