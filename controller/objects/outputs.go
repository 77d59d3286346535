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
	// OutputsPerSync is how many objects of a set are read for their outputs in one sync. The next
	// sync follows immediately and continues.
	OutputsPerSync = 128
	// outputsAtOnce is how many of these requests run at the same time.
	outputsAtOnce = 16
)

// providedOutputs is what an object provided at a resource version, and how it differed from its
// template if the set does not own it.
type providedOutputs struct {
	version string
	values  map[string]render.Output
	differs string
}

// Trial evaluates the outputs of an object in a separate process, if this process may not survive
// it.
type Trial func(ctx context.Context, template identity.Object, live *unstructured.Unstructured) error

// ReadOutputs adds to a world what some of its objects provide, and reports whether all could be
// read. An object that could not be read provides nothing for now, which delays only pods that need
// it. Every output is tried before it is evaluated.
func (w *Watcher) ReadOutputs(ctx context.Context, memory *Memory, world *plan.World, due []plan.ObjectRead, try Trial) (all bool) {
	templates, wrong := identity.OverridesWithin(world.Evaluation, world.Set).Objects()
	memory.expectOutputs(due)
	found := make([]providedOutputs, len(due))
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
		object := *world.Objects[read.Key] // a copy, because others may read it at the same time
		object.Outputs, object.Differs, object.Compared = found[i].values, found[i].differs, true
		if errs[i] != nil {
			object.Outputs = unreadOutputs(world, read.Template, plan.Cause(errs[i]))
		}
		world.Objects[read.Key] = &object
	}
	return errors.Join(errs...) == nil
}

// reading says for which set, template and member an object is read.
type reading struct {
	memory   *Memory
	set      cache.ObjectName
	template identity.Object
	ordinal  int
}

// readObject reads an object past the cache, and determines what it provides.
func (w *Watcher) readObject(ctx context.Context, of reading, object *plan.Object, try Trial) (providedOutputs, error) {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	live, err := w.liveObject(ctx, of, object)
	if err != nil {
		return providedOutputs{}, err
	}
	if err := try(ctx, of.template, live); err != nil {
		return providedOutputs{}, err
	}
	read := providedOutputs{version: live.GetResourceVersion(), values: OutputsFrom(of.template, live)}
	owner, _, _ := strings.Cut(live.GetAnnotations()[v1.OwnerAnnotation], "/")
	if owner != of.set.Name && !of.template.Generates() {
		read.differs, _ = of.template.Difference(of.ordinal, live.Object) // rendering errors are reported elsewhere
	}
	of.memory.keepOutputs(live.GetUID(), read)
	return read, nil
}

// liveObject reads an object from the cluster, and verifies that it is the one that was observed.
func (w *Watcher) liveObject(ctx context.Context, of reading, object *plan.Object) (*unstructured.Unstructured, error) {
	gvk := of.template.Kind()
	watched, _ := w.ensureWatch(gvk, of.set.Namespace)
	if watched == nil {
		return nil, errors.New("the term is over")
	}
	at, ok := watched.kind.gvr(gvk.Version)
	if !ok {
		return nil, errors.New("its kind is not known any more")
	}
	read := func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.config.Clients.Dynamic.Resource(at).Namespace(of.set.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
	}
	live, err := hostread.ReadWithRetry(WithoutSecretLogs(ctx, gvk), w.config.Clock, read)
	switch {
	case err != nil:
		return nil, err // reported together with the object
	case live.GetDeletionTimestamp() != nil:
		return nil, errors.New("it is terminating")
	case live.GetUID() != object.UID:
		return nil, fmt.Errorf("it was replaced by another object, with UID %s", live.GetUID())
	}
	return live, nil
}

// unreadOutputs are the outputs of an object that could not be read.
func unreadOutputs(world *plan.World, template, why string) map[string]render.Output {
	all := map[string]render.Output{}
	for i := range world.Set.Spec.ObjectTemplates {
		if of := &world.Set.Spec.ObjectTemplates[i]; of.Name == template {
			for _, output := range of.Outputs {
				all[output.Name] = render.Output{Missing: "cannot read the object: " + why}
			}
			unreadKeys(of, why, all)
		}
	}
	return all
}

// expectOutputs records that objects are read. From then on, their changes wake the set.
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

// AwaitOutputs records which of the objects that were read still lack an output, and whether one
// could not be read, which is retried later.
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

// awaitsOutputs reports whether an object still lacks an output.
func (m *Memory) awaitsOutputs(object identity.ObjectKey) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.awaited[object]
}

func (m *Memory) keepOutputs(uid types.UID, read providedOutputs) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.outputs == nil {
		m.outputs = map[types.UID]providedOutputs{}
	}
	m.outputs[uid] = read
}

// outputsOf is what an object provides, and how it differs from its template. It is empty if the
// object was not read since it last changed.
func (m *Memory) outputsOf(object *tracked) (values map[string]render.Output, differs string, read bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last, ok := m.outputs[object.UID]; ok && hostread.HasReached(last.version, object.ResourceVersion) {
		return last.values, last.differs, true
	}
	return nil, "", false
}
