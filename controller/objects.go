// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
)

// newWatcher returns a watcher of the objects that templates of the term's sets describe.
func (t *term) newWatcher() *objects.Watcher {
	return objects.NewWatcher(objects.Config{
		Clients:    t.Objects,
		Namespaces: t.ObjectNamespaces,
		Discovery:  t.Host.Discovery(),
		Clock:      t.Clock,
		Sets:       setsOf{t},
		MemoryOf:   t.objectsOf,
		Wake:       t.enqueue,
	})
}

// objectsOf is the memory of a set's objects, nil if there is none.
func (t *term) objectsOf(key cache.ObjectName) *objects.Memory {
	if known := t.memory.find(key); known != nil {
		return &known.objects
	}
	return nil
}

// setsOf are the sets that a term knows.
type setsOf struct{ term *term }

func (s setsOf) Get(namespace, name string) (*v1.StatefulSet, bool) {
	return get[*v1.StatefulSet](s.term.view, setsResource, namespace, name)
}

func (s setsOf) Kinds() []string { return s.term.view.values(setsResource, byObjectKind) }

func (s setsOf) Describing(kind string) []*v1.StatefulSet {
	return find[*v1.StatefulSet](s.term.view, setsResource, byObjectKind, kind)
}
