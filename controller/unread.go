// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// stubReadsAtOnce is how many objects of a set are read at a time.
const stubReadsAtOnce = 16

// neededStubs are the stubs of objects that the planner must know, by kind: the objects existed
// before the set, and have not changed since.
func (v view) neededStubs(set *v1.StatefulSet) map[*usableStub]resource {
	wanted := map[*usableStub]resource{}
	for _, base := range claimBases(set) {
		for _, s := range stubsOf[*usableStub](v, claimsResource, hostread.IndexKey(set, base), baseOfClaim) {
			wanted[s] = claimsResource
		}
	}
	for _, s := range stubsOf[*usableStub](v, revisionsResource, hostread.IndexKey(set, identity.RevisionBase(set.Name)), baseOfRevision) {
		wanted[s] = revisionsResource
	}
	return wanted
}

// readStubs adds to a world the objects of which the view has only stubs. Each is read from the
// cluster once: its next change brings it into the cache, where it replaces the stub.
func (t *term) readStubs(ctx context.Context, state *setState, world *plan.World) error {
	wanted := t.view.neededStubs(world.Set)
	missing := state.missing(wanted)
	err := errors.Join(hostread.InParallel(ctx, len(missing), stubReadsAtOnce, func(i int) error {
		return t.read(ctx, state, missing[i], wanted[missing[i]])
	})...)
	if err != nil {
		return err
	}
	for _, object := range state.found() {
		switch object := object.(type) {
		case *corev1.PersistentVolumeClaim:
			world.Claims = append(world.Claims, object)
		case *appsv1.ControllerRevision:
			world.Revisions = append(world.Revisions, object)
		}
	}
	return nil
}

// read reads the object of a stub. It leaves out an object that was deleted; the cache will receive
// its event.
func (t *term) read(ctx context.Context, state *setState, s *usableStub, of resource) error {
	ctx, cancel := context.WithTimeout(ctx, hostread.Timeout)
	defer cancel()
	kind := t.kinds.of(of)
	about := s.about()
	object, err := readLive[metav1.Object](ctx, kind, about.Namespace, about.Name)
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	state.keepRead(s, kind.trim(t.view, object))
	return nil
}

// missing are the stubs whose objects were not read. It drops the objects of other stubs.
func (m *setState) missing(wanted map[*usableStub]resource) []*usableStub {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.read, func(s *usableStub, _ any) bool { return wanted[s] == "" })
	var missing []*usableStub
	for s := range wanted {
		if _, ok := m.read[s]; !ok {
			missing = append(missing, s)
		}
	}
	return missing
}

func (m *setState) keepRead(s *usableStub, object any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.read == nil {
		m.read = map[*usableStub]any{}
	}
	m.read[s] = object
}

// found are the objects that were read.
func (m *setState) found() []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]any, 0, len(m.read))
	for _, object := range m.read {
		all = append(all, object)
	}
	return all
}
