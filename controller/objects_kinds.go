// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// objectKinds are the kinds of objects that templates of sets describe, each watched from when a
// set needs it until none does any more, and at most identity.MostObjectKinds at a time. If the controller makes
// objects only in some namespaces, at most identity.MostObjectNamespaces, each kind is watched in those of them
// that have such a set. Nothing waits for them but sets that have such templates.
type objectKinds struct {
	*term

	mu      sync.Mutex
	watched map[schema.GroupKind]*objectKind
	// crowded is true if a kind was refused because as many are watched as may be.
	crowded bool
	// first are the kinds that come first if sets describe more than may be watched, by their names, nil
	// if that has to be determined.
	first map[string]bool
	// ctx is that of the term, nil before it runs, and running what runs in it.
	ctx     context.Context //nolint:containedctx // what is watched ends with the term
	running sync.WaitGroup
	tended  bool
}

// unusedInterval is how often the controller checks whether kinds are still needed.
const unusedInterval = time.Minute

// begin lets kinds be watched until the context ends, and returns what waits for the end.
func (o *objectKinds) begin(ctx context.Context) (end func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ctx = ctx
	return o.running.Wait
}

// of is the watch of a kind of objects for sets of a namespace. It is watched from now on. If it cannot be, of returns
// nil and the reason: the controller makes no objects in the namespace, it has no clients for objects, the term is
// over, or as many kinds are watched as may be.
func (o *objectKinds) of(kind schema.GroupVersionKind, namespace string) (watched *objectWatch, refused string) {
	if !o.ObjectNamespaces.Has(namespace) {
		return nil, excludedKind(o.ObjectNamespaces, namespace)
	}
	if !o.ObjectNamespaces.Limited() {
		namespace = metav1.NamespaceAll
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.watched[kind.GroupKind()]; known != nil {
		return o.watchIn(known, namespace), ""
	}
	if o.Objects == nil || o.ctx == nil || o.ctx.Err() != nil {
		return nil, "this controller has no clients for objects"
	}
	term := o.ctx
	if !o.tended {
		o.tended = true
		o.running.Go(func() { o.tend(term) })
	}
	if !o.hasPlace(kind.GroupKind()) {
		o.crowded = true
		return nil, fmt.Sprintf("at most %d kinds of objects are watched, and other sets describe as many; "+
			"this kind is watched when no set has a template of one of the others any more", identity.MostObjectKinds)
	}
	known := newObjectKind(term, o.term, kind)
	o.watched[kind.GroupKind()] = known
	o.running.Go(func() { known.run(known.ctx) })
	return o.watchIn(known, namespace), ""
}

// watchIn is the watch of a kind in a namespace, which begins if there is none.
func (o *objectKinds) watchIn(known *objectKind, namespace string) *objectWatch {
	if watched := known.watches[namespace]; watched != nil {
		return watched
	}
	ctx, end := context.WithCancel(known.ctx)
	watched := &objectWatch{objectKind: known, namespace: namespace, end: end}
	known.watches[namespace] = watched
	o.running.Go(func() {
		defer end()
		watched.follow(ctx)
	})
	return watched
}

// excludedKind says why the objects of a set are not watched whose namespace the operator has not listed, and what
// brings them back.
func excludedKind(listed identity.ObjectNamespaces, namespace string) string {
	return listed.Excluded(namespace) + "; what the set has stays; to have its objects managed, list the namespace there and " +
		"bind ClusterRole statefulset-controller-objects in it, or remove the templates"
}

// hasPlace reports whether one more kind may be watched. A kind that is watched keeps its place as long as a
// set needs it. If sets describe more kinds than may be watched, the free places are for those that come
// first: otherwise it would depend on chance which sets wait after each start of the controller.
func (o *objectKinds) hasPlace(kind schema.GroupKind) bool {
	if len(o.watched) >= identity.MostObjectKinds {
		return false
	}
	if o.first == nil {
		named := o.named()
		if len(named) <= identity.MostObjectKinds {
			return true
		}
		o.first = o.firstOf(named)
	}
	return o.first[kind.String()]
}

// firstOf are as many kinds as may be watched: those of the oldest sets, and of kinds that are equally old
// the ones whose names come first.
func (o *objectKinds) firstOf(named []string) map[string]bool {
	type aged struct {
		kind  string
		since time.Time
	}
	all := make([]aged, 0, len(named))
	for _, kind := range named {
		var since time.Time
		for i, set := range find[*v1.StatefulSet](o.view, setsResource, byObjectKind, kind) {
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

// tend stops watching kinds that no set needs any more, and gives their places to others, until the context
// ends.
func (o *objectKinds) tend(ctx context.Context) {
	ticker := o.Clock.NewTicker(unusedInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		o.forgetUnused()
		for _, kind := range o.waiting() {
			o.wakeNamed(kind, metav1.NamespaceAll)
		}
	}
}

func (o *objectKinds) forgetUnused() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, known := range o.watched {
		for namespace, watched := range known.watches {
			if !o.needed(kind.String(), namespace) {
				watched.end()
				delete(known.watches, namespace)
			}
		}
		if len(known.watches) == 0 {
			known.stop()
			delete(o.watched, kind)
		}
	}
}

// needed reports whether a set of a namespace, or of any, describes objects of a kind.
func (o *objectKinds) needed(kind, namespace string) bool {
	if namespace == metav1.NamespaceAll {
		return o.view.has(setsResource, byObjectKind, kind)
	}
	return len(o.describing(kind, namespace)) > 0
}

// named are the kinds that sets describe, without those of which objects are in no namespace where the controller
// makes any.
func (o *objectKinds) named() []string {
	named := o.view.values(setsResource, byObjectKind)
	if !o.ObjectNamespaces.Limited() {
		return named
	}
	return slices.DeleteFunc(named, func(kind string) bool {
		return !slices.ContainsFunc(o.describing(kind, metav1.NamespaceAll), func(set *v1.StatefulSet) bool { return o.ObjectNamespaces.Has(set.Namespace) })
	})
}

// describing are the sets of a namespace, or of all, that describe objects of a kind.
func (o *objectKinds) describing(kind, namespace string) []*v1.StatefulSet {
	all := find[*v1.StatefulSet](o.view, setsResource, byObjectKind, kind)
	if namespace == metav1.NamespaceAll {
		return all
	}
	return slices.DeleteFunc(all, func(set *v1.StatefulSet) bool { return set.Namespace != namespace })
}

// waiting are the kinds that may be watched now, and were refused because others had all places.
func (o *objectKinds) waiting() (kinds []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.first = nil
	if !o.crowded || len(o.watched) >= identity.MostObjectKinds {
		return nil
	}
	named := o.named()
	o.crowded = len(named) > identity.MostObjectKinds
	if o.crowded {
		o.first = o.firstOf(named)
	}
	for _, kind := range named {
		if _, watched := o.watched[schema.ParseGroupKind(kind)]; !watched && (!o.crowded || o.first[kind]) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// wake has the sets of a namespace, or of all, looked at that have a template of a kind.
func (o *objectKinds) wake(kind schema.GroupKind, namespace string) {
	o.wakeNamed(kind.String(), namespace)
}

func (o *objectKinds) wakeNamed(kind, namespace string) {
	o.enqueue(with(nil, o.describing(kind, namespace)))
}
