// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
)

// newObjectWatcher returns a watcher of the objects that templates of the term's sets describe.
func (t *term) newObjectWatcher() *objects.Watcher {
	return objects.NewWatcher(objects.Config{
		Clients:    t.config.Objects,
		Namespaces: t.config.ObjectNamespaces,
		Discovery:  t.config.Host.Discovery(),
		Clock:      t.config.Clock,
		Sets:       knownSets{t},
		MemoryOf:   t.findObjectsMemory,
		Wake:       t.enqueue,
	})
}

// findObjectsMemory returns the memory of a set's objects, nil if there is none.
func (t *term) findObjectsMemory(key cache.ObjectName) *objects.Memory {
	if state := t.states.find(key); state != nil {
		return &state.objects
	}
	return nil
}

// knownSets are the sets that a term knows.
type knownSets struct{ term *term }

func (s knownSets) Get(namespace, name string) (*v1.StatefulSet, bool) {
	return get[*v1.StatefulSet](s.term.view, setsResource, namespace, name)
}

func (s knownSets) Kinds() []string { return s.term.view.values(setsResource, byObjectKind) }

func (s knownSets) Describing(kind string) []*v1.StatefulSet {
	return find[*v1.StatefulSet](s.term.view, setsResource, byObjectKind, kind)
}
