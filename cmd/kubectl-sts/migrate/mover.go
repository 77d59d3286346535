// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1 "statefulset.dev/api/apps/v1"
)

// mover is one run of the command.
type mover struct {
	cluster
	streams genericiooptions.IOStreams

	namespace  string
	names      []string
	selector   string
	everywhere bool

	back, undo, dryRun            bool
	allowManaged, dropExtraFields bool
	patience                      time.Duration
}

// plannedMove is a set with the routes of its move, and its state before the move.
type plannedMove struct {
	key    types.NamespacedName
	routes []route
	begun  situation
	before snapshot
}

// run checks every set before it moves the first.
func (m *mover) run(ctx context.Context) error {
	if err := m.serves(); err != nil {
		return err
	}
	keys, err := m.find(ctx)
	if err != nil {
		return err
	}
	for _, namespace := range namespacesOf(keys) {
		if err := m.allowed(ctx, namespace); err != nil {
			return err
		}
	}
	moves, err := m.prepare(ctx, keys)
	if err != nil {
		return err
	}
	for _, j := range moves {
		if m.dryRun {
			m.show(ctx, j)
		} else if err := m.moveSet(ctx, j); err != nil {
			return fmt.Errorf("set %s: %w", j.key, err)
		}
	}
	return nil
}

// find lists the sets to move. A set in the middle of a move may be of either kind.
func (m *mover) find(ctx context.Context) ([]types.NamespacedName, error) {
	var keys []types.NamespacedName
	for _, name := range m.names {
		keys = append(keys, types.NamespacedName{Namespace: m.namespace, Name: name})
	}
	if m.selector == "" {
		return unique(keys), nil
	}
	namespace := m.namespace
	if m.everywhere {
		namespace = metav1.NamespaceAll
	}
	options := metav1.ListOptions{LabelSelector: m.selector}
	theirs, err := m.host.AppsV1().StatefulSets(namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing apps/v1 sets: %w", err)
	}
	ours, err := m.sets.AppsV1().StatefulSets(namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing %s sets: %w", v1.GroupName, err)
	}
	if !m.back && !m.undo {
		for i := range theirs.Items {
			keys = append(keys, nameOf(&theirs.Items[i]))
		}
	}
	for i := range ours.Items {
		if state, _ := moveStateOf(&ours.Items[i]); m.back || state == arriving || state == leaving && m.undo {
			keys = append(keys, nameOf(&ours.Items[i]))
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("selector %q selects no set to move", m.selector)
	}
	return unique(keys), nil
}

func nameOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

func unique(keys []types.NamespacedName) []types.NamespacedName {
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(keys)
}

func namespacesOf(keys []types.NamespacedName) []string {
	var namespaces []string
	for _, key := range keys {
		namespaces = append(namespaces, key.Namespace)
	}
	return slices.Compact(namespaces)
}

// prepare checks all sets, and collects the problems of all of them.
func (m *mover) prepare(ctx context.Context, keys []types.NamespacedName) ([]plannedMove, error) {
	var moves []plannedMove
	var refusals []error
	for _, key := range keys {
		j, err := m.planMove(ctx, key)
		if err != nil {
			refusals = append(refusals, fmt.Errorf("set %s: %w", key, err))
		}
		moves = append(moves, j)
	}
	return moves, errors.Join(refusals...)
}

func (m *mover) planMove(ctx context.Context, key types.NamespacedName) (plannedMove, error) {
	s, err := m.observe(ctx, key)
	if err != nil {
		return plannedMove{}, err
	}
	j := plannedMove{key: key, begun: s, routes: []route{forth}}
	switch {
	case m.back:
		j.routes = []route{back}
	case m.undo:
		if j.routes, err = undoRoutes(s); err != nil {
			return j, err
		}
	}
	if m.undo {
		_, err = j.routes[0](s)
	} else {
		err = m.check(ctx, s, j.routes[0])
	}
	if err != nil {
		return j, err
	}
	j.before, err = s.snapshot()
	return j, err
}

// moveSet moves one set.
func (m *mover) moveSet(ctx context.Context, j plannedMove) error {
	way := move{cluster: m.cluster, key: j.key, patience: m.patience, out: m.streams.Out}
	way.printf("%s", j.begun.describe())
	for _, decide := range j.routes {
		if err := way.follow(ctx, decide); err != nil {
			return m.undoFirstStep(ctx, way, err)
		}
	}
	s, err := m.observe(ctx, j.key)
	if err != nil {
		return err
	}
	after, err := s.snapshot()
	if err != nil {
		return err
	}
	explained, unexplained := compare(j.before, after)
	for _, line := range explained {
		way.printf("%s", line)
	}
	if len(unexplained) > 0 {
		return fmt.Errorf("the move is complete, but %s", strings.Join(unexplained, "; "))
	}
	way.printf("verified: %d pods and %d claims are the same as before, and no pod has restarted; the set is in %s", len(after.pods)-len(explained),
		len(after.claims), s.kind())
	if !m.undo {
		m.advise(ctx, way, j)
	}
	return nil
}

// undoFirstStep undoes the move if the controller did not react to the first step, on which nothing
// depends yet.
func (m *mover) undoFirstStep(ctx context.Context, way move, cause error) error {
	var late *lateError
	if !errors.As(cause, &late) || late.step != awaitHold {
		return cause
	}
	if err := way.follow(ctx, undo); err != nil {
		return errors.Join(cause, err)
	}
	return fmt.Errorf("the controller of %s did not observe the set within %s; check whether it runs; the move was undone", v1.GroupName, late.patience)
}

func (m *mover) advise(ctx context.Context, way move, j plannedMove) {
	if text := leftObjects(j.begun.ours); m.back && text != "" {
		way.printf("%s", text)
	}
	from, to := m.versions()
	for _, note := range m.followers(ctx, j.key, from, to, j.begun.memberLabels()) {
		way.printf("%s", note)
	}
}

// show prints what moveSet would do.
func (m *mover) show(ctx context.Context, j plannedMove) {
	way := move{key: j.key, out: m.streams.Out}
	way.printf("%s", j.begun.describe())
	next, _ := j.routes[0](j.begun)
	if next == done {
		way.printf("nothing to do")
		return
	}
	steps := forthSteps(j.begun.takesClaims())
	if m.back {
		steps = backSteps(j.begun.takesClaims())
	}
	if m.undo {
		steps = []step{next}
	}
	if from := slices.Index(steps, next); from > 0 {
		steps = steps[from:]
	}
	for i, step := range steps {
		way.printf("would %d. %s", i+1, step)
	}
	m.advise(ctx, way, j)
}

// versions returns the API versions from which and to which sets are moved.
func (m *mover) versions() (from, to schema.GroupVersion) {
	if m.back {
		return v1.SchemeGroupVersion, appsv1.SchemeGroupVersion
	}
	return appsv1.SchemeGroupVersion, v1.SchemeGroupVersion
}
