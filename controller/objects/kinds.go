// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// unusedInterval is how often the controller checks whether kinds are still needed.
const unusedInterval = time.Minute

// ensureWatch returns the watch of a kind of objects for sets of a namespace, and starts it if
// necessary. If that is not possible, it returns nil and the reason: the controller creates no
// objects in the namespace, it has no clients for objects, the term is over, or the maximum number
// of kinds is watched.
func (w *Watcher) ensureWatch(gvk schema.GroupVersionKind, namespace string) (watched *namespaceWatch, refused string) {
	if !w.config.Namespaces.Has(namespace) {
		return nil, Excluded(w.config.Namespaces, namespace)
	}
	if !w.config.Namespaces.Limited() {
		namespace = metav1.NamespaceAll
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.watched[gvk.GroupKind()]; known != nil {
		return w.watchIn(known, namespace), ""
	}
	if w.config.Clients == nil || w.ctx == nil || w.ctx.Err() != nil {
		return nil, "this controller has no clients for objects"
	}
	term := w.ctx
	if !w.isCleanupRunning {
		w.isCleanupRunning = true
		w.running.Go(func() { w.runCleanup(term) })
	}
	if !w.hasCapacity(gvk.GroupKind()) {
		w.crowded = true
		return nil, fmt.Sprintf("at most %d kinds of objects are watched, and other sets describe as many; "+
			"this kind is watched once no set has templates of one of the other kinds", identity.MostObjectKinds)
	}
	known := newKind(term, w, gvk)
	w.watched[gvk.GroupKind()] = known
	w.running.Go(func() { known.run(known.ctx) })
	return w.watchIn(known, namespace), ""
}

// watchIn returns the watch of a kind in a namespace, and starts it if there is none.
func (w *Watcher) watchIn(known *kind, namespace string) *namespaceWatch {
	if watched := known.watches[namespace]; watched != nil {
		return watched
	}
	ctx, end := context.WithCancel(known.ctx)
	watched := &namespaceWatch{kind: known, namespace: namespace, end: end}
	known.watches[namespace] = watched
	w.running.Go(func() {
		defer end()
		watched.follow(ctx)
	})
	return watched
}

// hasCapacity reports whether one more kind may be watched. A watched kind stays watched while a
// set needs it. If sets describe more kinds than may be watched, kinds that come first are watched
// first. Otherwise, which sets wait would depend on chance after each start of the controller.
func (w *Watcher) hasCapacity(kind schema.GroupKind) bool {
	if len(w.watched) >= identity.MostObjectKinds {
		return false
	}
	if w.first == nil {
		named := w.named()
		if len(named) <= identity.MostObjectKinds {
			return true
		}
		w.first = w.firstOf(named)
	}
	return w.first[kind.String()]
}

// firstOf are as many kinds as may be watched: those of the oldest sets, and among equally old
// kinds those whose names come first.
func (w *Watcher) firstOf(named []string) map[string]bool {
	type aged struct {
		kind  string
		since time.Time
	}
	all := make([]aged, 0, len(named))
	for _, kind := range named {
		var since time.Time
		for i, set := range w.config.Sets.Describing(kind) {
			if created := set.CreationTimestamp.Time; i == 0 || created.Before(since) {
				since = created
			}
		}
		all = append(all, aged{kind, since})
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.kind, b.kind)) })
	first := map[string]bool{}
	for _, one := range all[:min(len(all), identity.MostObjectKinds)] {
		first[one.kind] = true
	}
	return first
}

// runCleanup stops watching kinds that no set needs any more, and starts to watch others in their
// place, until the context ends.
func (w *Watcher) runCleanup(ctx context.Context) {
	ticker := w.config.Clock.NewTicker(unusedInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		w.forgetUnused()
		for _, kind := range w.waiting() {
			w.wakeNamed(kind, metav1.NamespaceAll)
		}
	}
}

func (w *Watcher) forgetUnused() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for kind, known := range w.watched {
		for namespace, watched := range known.watches {
			if !w.needed(kind.String(), namespace) {
				watched.end()
				delete(known.watches, namespace)
			}
		}
		if len(known.watches) == 0 {
			known.stop()
			delete(w.watched, kind)
		}
	}
}

// needed reports whether a set of a namespace, or any set, describes objects of a kind.
func (w *Watcher) needed(kind, namespace string) bool {
	return len(w.describing(kind, namespace)) > 0
}

// named are the kinds that sets describe in namespaces in which the controller creates objects.
func (w *Watcher) named() []string {
	named := w.config.Sets.Kinds()
	if !w.config.Namespaces.Limited() {
		return named
	}
	return slices.DeleteFunc(named, func(kind string) bool {
		return !slices.ContainsFunc(w.describing(kind, metav1.NamespaceAll),
			func(set *v1.StatefulSet) bool { return w.config.Namespaces.Has(set.Namespace) })
	})
}

// describing are the sets of a namespace, or all sets, that describe objects of a kind.
func (w *Watcher) describing(kind, namespace string) []*v1.StatefulSet {
	all := w.config.Sets.Describing(kind)
	if namespace == metav1.NamespaceAll {
		return all
	}
	return slices.DeleteFunc(all, func(set *v1.StatefulSet) bool { return set.Namespace != namespace })
}

// waiting are kinds that were refused because the maximum number of kinds was watched, and may be
// watched now.
func (w *Watcher) waiting() (kinds []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.first = nil
	if !w.crowded || len(w.watched) >= identity.MostObjectKinds {
		return nil
	}
	named := w.named()
	w.crowded = len(named) > identity.MostObjectKinds
	if w.crowded {
		w.first = w.firstOf(named)
	}
	for _, kind := range named {
		if _, watched := w.watched[schema.ParseGroupKind(kind)]; !watched && (!w.crowded || w.first[kind]) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// wake enqueues the sets of a namespace, or all sets, that have a template of a kind.
func (w *Watcher) wake(kind schema.GroupKind, namespace string) {
	w.wakeNamed(kind.String(), namespace)
}

func (w *Watcher) wakeNamed(kind, namespace string) {
	describing := w.describing(kind, namespace)
	keys := make([]cache.ObjectName, len(describing))
	for i, set := range describing {
		keys[i] = cache.MetaObjectToName(set)
	}
	w.config.Wake(keys)
}
