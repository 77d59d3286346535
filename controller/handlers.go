// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
)

// handleEvents registers handlers by which every event of a watched object wakes the sets that it
// concerns. It must be called before the informers run.
func (t *term) handleEvents() {
	for i := range t.kinds {
		// This fails only for an informer that has stopped.
		_, _ = t.informers[t.kinds[i].resource].AddEventHandler(t.handlerOf(&t.kinds[i]))
	}
}

// handlerOf enqueues the sets that an object concerns. A change that the planner does not read
// wakes only the sets that wait to see their own write.
func (t *term) handlerOf(kind *kind) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { t.enqueue(kind.setsOf(t.view, object)) },
		UpdateFunc: func(before, after any) {
			if !kind.changed(t.states, before, after) {
				t.enqueueWaiting(kind.setsOf(t.view, after))
				return
			}
			t.enqueue(kind.setsOf(t.view, before))
			t.enqueue(kind.setsOf(t.view, after))
		},
		DeleteFunc: func(object any) {
			object = hostread.LastState(object)
			keys := kind.setsOf(t.view, object)
			t.recordUnwatchedPod(object, keys)
			t.enqueue(keys)
		},
	}
}

func (t *term) enqueue(keys []cache.ObjectName) {
	for _, key := range keys {
		t.queue.Add(key)
	}
}

func (t *term) enqueueWaiting(keys []cache.ObjectName) {
	for _, key := range keys {
		if t.states.find(key).awaits() {
			t.queue.Add(key)
		}
	}
}

// appendKeys adds the keys of sets, each once.
func appendKeys(keys []cache.ObjectName, sets []*v1.StatefulSet) []cache.ObjectName {
	for _, set := range sets {
		if key := cache.MetaObjectToName(set); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}
