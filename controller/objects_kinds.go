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

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// objectKinds are the kinds of objects that templates of sets describe, each watched from when a
// set needs it until none does any more, and at most identity.MostObjectKinds at a time. Nothing waits
// for them but sets that have such templates.
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

// of is a kind of objects. It is watched from now on. If it cannot be, of returns nil and the reason: the
// controller has no clients for objects, the term is over, or as many kinds are watched as may be.
func (o *objectKinds) of(kind schema.GroupVersionKind) (known *objectKind, refused string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.watched[kind.GroupKind()]; known != nil {
		return known, ""
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
	ctx, stop := context.WithCancel(term)
	known = newObjectKind(o.term, kind, stop)
	o.watched[kind.GroupKind()] = known
	o.running.Go(func() {
		defer stop()
		known.run(ctx)
	})
	return known, ""
}

// hasPlace reports whether one more kind may be watched. A kind that is watched keeps its place as long as a
// set needs it. If sets describe more kinds than may be watched, the free places are for those that come
// first: otherwise it would depend on chance which sets wait after each start of the controller.
func (o *objectKinds) hasPlace(kind schema.GroupKind) bool {
	if len(o.watched) >= identity.MostObjectKinds {
		return false
	}
	if o.first == nil {
		named := o.view.values(setsResource, byObjectKind)
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
			o.wakeNamed(kind)
		}
	}
}

func (o *objectKinds) forgetUnused() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, known := range o.watched {
		if !o.view.has(setsResource, byObjectKind, kind.String()) {
			known.stop()
			delete(o.watched, kind)
		}
	}
}

// waiting are the kinds that may be watched now, and were refused because others had all places.
func (o *objectKinds) waiting() (kinds []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.first = nil
	if !o.crowded || len(o.watched) >= identity.MostObjectKinds {
		return nil
	}
	named := o.view.values(setsResource, byObjectKind)
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

// wake has all sets looked at that have a template of a kind.
func (o *objectKinds) wake(kind schema.GroupKind) { o.wakeNamed(kind.String()) }

func (o *objectKinds) wakeNamed(kind string) {
	o.enqueue(with(nil, find[*v1.StatefulSet](o.view, setsResource, byObjectKind, kind)))
}
