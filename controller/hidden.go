// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
)

const (
	// hiddenPodsInterval is how often a pod that cannot be watched is looked at.
	hiddenPodsInterval = 15 * time.Second
	// hiddenPodsPerLook is how many such pods of a set are looked at again at once, those
	// first that were not for the longest time.
	hiddenPodsPerLook = 32
	// hiddenPodsAtOnce is how many of these requests are under way.
	hiddenPodsAtOnce = 16
)

// hiddenPods remembers for each set the names that were taken when a pod was to be
// created. If the cache has no pod of such a name, the pod lacks the label that we
// watch by: somebody took the label off, or the pod was never a member. The
// planner has to know it all the same, to repair it or to say what is in the way,
// so it is read from the host, now and then, until it is gone or in the cache.
type hiddenPods struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]map[string]sighting
}

// sighting is a pod as it was seen last; before the first look it has no time.
type sighting struct {
	pod *corev1.Pod
	at  time.Time
}

func newHiddenPods() *hiddenPods {
	return &hiddenPods{sets: map[cache.ObjectName]map[string]sighting{}}
}

// add notes that a name is taken by a pod that has yet to be looked at.
func (h *hiddenPods) add(key cache.ObjectName, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sets[key] == nil {
		h.sets[key] = map[string]sighting{}
	}
	h.sets[key][name] = sighting{}
}

// outdated makes a pod be looked at again that is not as it was seen.
func (h *hiddenPods) outdated(key cache.ObjectName, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.sets[key][name]; ok {
		h.sets[key][name] = sighting{}
	}
}

// saw notes what a look has shown.
func (h *hiddenPods) saw(key cache.ObjectName, name string, pod *corev1.Pod, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.sets[key][name]; ok {
		h.sets[key][name] = sighting{pod, at}
	}
}

// due are the names to look at now, in the order of need: all that were never, and the
// first of those that were not for long.
func (h *hiddenPods) due(key cache.ObjectName, now time.Time) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var due, again []string
	for name, last := range h.sets[key] {
		switch {
		case last.at.IsZero():
			due = append(due, name)
		case now.Sub(last.at) >= hiddenPodsInterval:
			again = append(again, name)
		}
	}
	slices.SortFunc(again, func(a, b string) int { return h.sets[key][a].at.Compare(h.sets[key][b].at) })
	return append(due, again[:min(len(again), hiddenPodsPerLook)]...)
}

// of are the pods as they were seen last, by name.
func (h *hiddenPods) of(key cache.ObjectName) map[string]*corev1.Pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	pods := make(map[string]*corev1.Pod, len(h.sets[key]))
	for name, last := range h.sets[key] {
		pods[name] = last.pod
	}
	return pods
}

// nextLook is when to look at the pods again, zero if there are none.
func (h *hiddenPods) nextLook(key cache.ObjectName) time.Duration {
	if len(h.of(key)) == 0 {
		return 0
	}
	return hiddenPodsInterval
}

func (h *hiddenPods) drop(key cache.ObjectName, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sets[key], name)
	if len(h.sets[key]) == 0 {
		delete(h.sets, key)
	}
}

func (h *hiddenPods) forget(key cache.ObjectName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sets, key)
}

// readHidden are the pods that took a set's names and are not in the cache. Those that
// it is time for are read from the host.
func (t *term) readHidden(ctx context.Context, key cache.ObjectName) ([]*corev1.Pod, error) {
	for name := range t.hidden.of(key) {
		if _, ok := get[*corev1.Pod](t.view, podsResource, key.Namespace, name); ok {
			t.hidden.drop(key, name)
		}
	}
	due := t.hidden.due(key, t.Clock.Now())
	errs := inParallel(ctx, len(due), hiddenPodsAtOnce, func(i int) error { return t.lookAtHidden(ctx, key, due[i]) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(t.hidden.of(key))), nil
}

func (t *term) lookAtHidden(ctx context.Context, key cache.ObjectName, name string) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	pod, err := lookUp[*corev1.Pod](ctx, t.kinds.of(podsResource), key.Namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		t.hidden.drop(key, name)
	case err != nil:
		return err
	default:
		t.hidden.saw(key, name, pod, t.Clock.Now())
	}
	return nil
}
