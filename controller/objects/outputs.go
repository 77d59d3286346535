// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

const (
	// OutputsPerSync is how many objects of a set are read in one sync for what they give; the
	// next sync, at once, goes on.
	OutputsPerSync = 128
	// outputsAtOnce is how many of these requests are under way.
	outputsAtOnce = 16
)

// readOutputs are what an object gave that had this resource version, and how it differed from what its
// template describes, if it is somebody else's.
type readOutputs struct {
	version string
	values  map[string]render.Output
	differs string
}

// Trial evaluates the outputs of an object of which it is not certain that the process survives it, somewhere else.
type Trial func(ctx context.Context, template identity.Object, live *unstructured.Unstructured) error

// ReadOutputs adds to a world what some of its objects give, and reports whether all could be read.
// One that could not gives nothing for now, which holds up only pods that need it. No output is evaluated
// before its trial.
func (w *Watcher) ReadOutputs(ctx context.Context, memory *Memory, world *plan.World, due []plan.ObjectRead, try Trial) (all bool) {
	templates, wrong := identity.OverridesWithin(world.Evaluation, world.Set).Objects()
	memory.expectOutputs(due)
	found := make([]readOutputs, len(due))
	errs := hostread.InParallel(ctx, len(due), outputsAtOnce, func(i int) (err error) {
		at := slices.IndexFunc(templates, func(o identity.Object) bool { return o.Template().Name == due[i].Template })
		if wrong != nil || at < 0 {
			return errors.New("its template cannot be read")
		}
		reading := reading{memory: memory, set: cache.MetaObjectToName(world.Set), template: templates[at], ordinal: due[i].Ordinal}
		found[i], err = w.readObject(ctx, reading, world.Objects[due[i].Key], try)
		return err
	})
	for i, read := range due {
		object := *world.Objects[read.Key] // which may be read elsewhere at the same time
		object.Outputs, object.Differs, object.Compared = found[i].values, found[i].differs, true
		if errs[i] != nil {
			object.Outputs = unreadOutputs(world, read.Template, plan.Cause(errs[i]))
		}
		world.Objects[read.Key] = &object
	}
	return errors.Join(errs...) == nil
}

// reading is whose object is read.
type reading struct {
	memory   *Memory
	set      cache.ObjectName
	template identity.Object
	ordinal  int
}

// readObject reads an object past the cache, and what it gives.
func (w *Watcher) readObject(ctx context.Context, of reading, object *plan.Object, try Trial) (readOutputs, error) {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	live, err := w.liveObject(ctx, of, object)
	if err != nil {
		return readOutputs{}, err
	}
	if err := try(ctx, of.template, live); err != nil {
		return readOutputs{}, err
	}
	read := readOutputs{version: live.GetResourceVersion(), values: Gives(of.template, live)}
	owner, _, _ := strings.Cut(live.GetAnnotations()[v1.OwnerAnnotation], "/")
	if owner != of.set.Name && !of.template.Generates() {
		read.differs, _ = of.template.Difference(of.ordinal, live.Object) // what cannot be rendered is told elsewhere
	}
	of.memory.keepOutputs(live.GetUID(), read)
	return read, nil
}

// liveObject is an object as the host has it, if it is the one that was observed.
func (w *Watcher) liveObject(ctx context.Context, of reading, object *plan.Object) (*unstructured.Unstructured, error) {
	gvk := of.template.Kind()
	watched, _ := w.of(gvk, of.set.Namespace)
	if watched == nil {
		return nil, errors.New("the term is over")
	}
	at, ok := watched.kind.at(gvk.Version)
	if !ok {
		return nil, errors.New("the kind is not known any more")
	}
	read := func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.config.Clients.Dynamic.Resource(at).Namespace(of.set.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
	}
	live, err := hostread.Again(Discreet(ctx, gvk), w.config.Clock, read)
	switch {
	case err != nil:
		return nil, err // it is told with the object
	case live.GetDeletionTimestamp() != nil:
		return nil, errors.New("it is terminating")
	case live.GetUID() != object.UID:
		return nil, fmt.Errorf("it is another one by now, with UID %s", live.GetUID())
	}
	return live, nil
}

// unreadOutputs are those of an object that could not be read.
func unreadOutputs(world *plan.World, template, why string) map[string]render.Output {
	all := map[string]render.Output{}
	for i := range world.Set.Spec.ObjectTemplates {
		if of := &world.Set.Spec.ObjectTemplates[i]; of.Name == template {
			for _, output := range of.Outputs {
				all[output.Name] = render.Output{Missing: "it cannot be read: " + why}
			}
			unreadKeys(of, why, all)
		}
	}
	return all
}

// expectOutputs notes that objects are read. What becomes of them from then on is looked at.
func (m *Memory) expectOutputs(due []plan.ObjectRead) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.awaited == nil {
		m.awaited = map[identity.ObjectKey]bool{}
	}
	for _, read := range due {
		m.awaited[read.Key] = true
	}
}

// AwaitOutputs notes which of the objects that were read have yet to give something, and whether one
// could not be read, which is tried again after a while.
func (m *Memory) AwaitOutputs(objects map[identity.ObjectKey]*plan.Object, unread bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.awaited, m.unread = nil, unread
	for key, object := range objects {
		for _, output := range object.Outputs {
			if output.Missing == "" {
				continue
			}
			if m.awaited == nil {
				m.awaited = map[identity.ObjectKey]bool{}
			}
			m.awaited[key] = true
		}
	}
}

// awaitsOutputs reports whether an object has yet to give something.
func (m *Memory) awaitsOutputs(object identity.ObjectKey) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.awaited[object]
}

func (m *Memory) keepOutputs(uid types.UID, read readOutputs) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.outputs == nil {
		m.outputs = map[types.UID]readOutputs{}
	}
	m.outputs[uid] = read
}

// outputsOf are what an object gives, and how it differs from its template, nothing if it was not read since
// it has changed.
func (m *Memory) outputsOf(object *tracked) (values map[string]render.Output, differs string, read bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last, ok := m.outputs[object.UID]; ok && hostread.Reached(last.version, object.ResourceVersion) {
		return last.values, last.differs, true
	}
	return nil, "", false
}
