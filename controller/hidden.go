// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
)

// hiddenPodsInterval is how often a pod that cannot be watched is looked at.
const hiddenPodsInterval = 15 * time.Second

// hiddenPods remembers for each set the names that were taken when a pod was to be
// created. If the cache has no pod of such a name, the pod lacks the label that we
// watch by: somebody took the label off, or the pod was never a member. The
// planner has to know it all the same, to repair it or to say what is in the way,
// so it is read from the host until it is gone or in the cache.
type hiddenPods struct {
	mu    sync.Mutex
	names map[cache.ObjectName]map[string]bool
}

func newHiddenPods() *hiddenPods {
	return &hiddenPods{names: map[cache.ObjectName]map[string]bool{}}
}

func (h *hiddenPods) add(key cache.ObjectName, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names[key] == nil {
		h.names[key] = map[string]bool{}
	}
	h.names[key][name] = true
}

func (h *hiddenPods) of(key cache.ObjectName) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := make([]string, 0, len(h.names[key]))
	for name := range h.names[key] {
		names = append(names, name)
	}
	return names
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
	delete(h.names[key], name)
	if len(h.names[key]) == 0 {
		delete(h.names, key)
	}
}

func (h *hiddenPods) forget(key cache.ObjectName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.names, key)
}

// readHidden reads the pods that took a set's names and are not in the cache.
func (t *term) readHidden(ctx context.Context, key cache.ObjectName) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	for _, name := range t.hidden.of(key) {
		if _, ok := get[*corev1.Pod](t.caches, podsResource, key.Namespace, name); ok {
			t.hidden.drop(key, name)
			continue
		}
		pod, err := t.host.pod(ctx, key.Namespace, name)
		switch {
		case apierrors.IsNotFound(err):
			t.hidden.drop(key, name)
		case err != nil:
			return nil, err
		default:
			pods = append(pods, pod)
		}
	}
	return pods, nil
}
