// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

const (
	// outputsPerLook is how many objects of a set are read at one look for what they give; the
	// next look, at once, goes on.
	outputsPerLook = 128
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

// readObjects adds to a world what some of its objects give, and reports whether all could be read.
// One that could not gives nothing for now, which holds up only pods that need it.
func (t *term) readObjects(ctx context.Context, known *memo, world *plan.World, due []plan.ObjectRead) (all bool) {
	templates, wrong := identity.OverridesWithin(world.Evaluation, world.Set).Objects()
	known.expectOutputs(due)
	found := make([]readOutputs, len(due))
	errs := hostread.InParallel(ctx, len(due), outputsAtOnce, func(i int) (err error) {
		at := slices.IndexFunc(templates, func(o identity.Object) bool { return o.Template().Name == due[i].Template })
		if wrong != nil || at < 0 {
			return errors.New("its template cannot be read")
		}
		found[i], err = t.readObject(ctx, known, world.Objects[due[i].Key], templates[at], due[i].Ordinal)
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

// readObject reads an object past the cache, and what it gives.
func (t *term) readObject(ctx context.Context, known *memo, object *plan.Object, template identity.Object, ordinal int) (readOutputs, error) {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	watched, _ := t.objects.of(template.Kind(), known.key.Namespace)
	if watched == nil {
		return readOutputs{}, errTermOver
	}
	at, ok := watched.at(template.Kind().Version)
	if !ok {
		return readOutputs{}, errors.New("the kind is not known any more")
	}
	live, err := hostread.Again(discreet(ctx, template.Kind()), t.Clock, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return t.Objects.Dynamic.Resource(at).Namespace(known.key.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
	})
	switch {
	case err != nil:
		return readOutputs{}, err // it is told with the object
	case live.GetDeletionTimestamp() != nil:
		return readOutputs{}, errors.New("it is terminating")
	case live.GetUID() != object.UID:
		return readOutputs{}, fmt.Errorf("it is another one by now, with UID %s", live.GetUID())
	}
	if known.isSuspected() {
		if err := t.tryOutputs(ctx, known, template, live); err != nil {
			return readOutputs{}, err
		}
	}
	read := readOutputs{version: live.GetResourceVersion(), values: gives(template, live)}
	if owner, _, _ := strings.Cut(live.GetAnnotations()[v1.OwnerAnnotation], "/"); owner != known.key.Name && !template.Generates() {
		read.differs, _ = template.Difference(ordinal, live.Object) // what cannot be rendered is told elsewhere
	}
	known.keepOutputs(live.GetUID(), read)
	return read, nil
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
func (m *memo) expectOutputs(due []plan.ObjectRead) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects.awaited == nil {
		m.objects.awaited = map[identity.ObjectKey]bool{}
	}
	for _, read := range due {
		m.objects.awaited[read.Key] = true
	}
}

// awaitOutputs notes which of the objects that were read have yet to give something, and whether one
// could not be read, which is tried again after a while.
func (m *memo) awaitOutputs(objects map[identity.ObjectKey]*plan.Object, unread bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects.awaited, m.objects.unread = nil, unread
	for key, object := range objects {
		for _, output := range object.Outputs {
			if output.Missing == "" {
				continue
			}
			if m.objects.awaited == nil {
				m.objects.awaited = map[identity.ObjectKey]bool{}
			}
			m.objects.awaited[key] = true
		}
	}
}

// awaitsOutputs reports whether an object has yet to give something.
func (m *memo) awaitsOutputs(object identity.ObjectKey) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects.awaited[object]
}

func (m *memo) keepOutputs(uid types.UID, read readOutputs) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects.outputs == nil {
		m.objects.outputs = map[types.UID]readOutputs{}
	}
	m.objects.outputs[uid] = read
}

// outputsOf are what an object gives, and how it differs from its template, nothing if it was not read since
// it has changed.
func (m *memo) outputsOf(object *tracked) (values map[string]render.Output, differs string, read bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last, ok := m.objects.outputs[object.UID]; ok && hostread.Reached(last.version, object.ResourceVersion) {
		return last.values, last.differs, true
	}
	return nil, "", false
}
