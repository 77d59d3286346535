// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"statefulset.dev/apiserver/dependents"
)

// weighInterval is how often what is at stake is counted anew while the store and
// the note stay as they are: it takes a list of all pods.
const weighInterval = time.Minute

// judge decides whether the store is the right one. Last is what was said about
// it before, nil if nothing was. The error is a *refusal if the store is not
// right, and another one if that cannot be told yet.
//
//	the note names this store, and a mark that it holds    right
//	an operator has accepted exactly this store            right, and noted
//	nothing in the host belongs to any set                 right, and noted
//	no note, and the store has every set that a member in
//	the host belongs to                                    right, and noted
//	otherwise                                              refused
//
// A store that was set back is refused even if it has all the sets: it may have
// them with fewer members, whose pods and claims would go.
func (g *guard) judge(ctx context.Context, last *refusal) (sight, outcome, error) {
	noted, seen, err := g.compare(ctx)
	switch {
	case err != nil:
		return sight{}, 0, err
	case noted.knows(seen):
		return seen, asNoted, nil
	case noted.accepted == seen.name():
		return g.adopt(ctx, noted, seen, "an operator has accepted it")
	case last.stillHolds(noted, seen):
		return sight{}, 0, last
	}
	weighed, err := g.weigh(ctx, noted, seen)
	switch {
	case err != nil:
		return sight{}, 0, err
	case len(weighed.owners) == 0:
		return g.adopt(ctx, noted, seen, "nothing in the host cluster belongs to a set")
	case noted.blank() && !slices.ContainsFunc(weighed.missing, dependents.Owner.HasMembers):
		return g.adopt(ctx, noted, seen, "the host cluster has no note, and this store has every set that a member there belongs to")
	case noted.object == nil:
		if err := g.notes.lay(ctx); err != nil {
			return sight{}, 0, err
		}
	}
	return sight{}, 0, weighed
}

// compare reads the record and the note as they were at one moment. Other
// replicas may set marks meanwhile.
func (g *guard) compare(ctx context.Context) (note, sight, error) {
	before, err := g.store.look(ctx)
	if err != nil {
		return note{}, sight{}, err
	}
	for {
		noted, err := g.notes.read(ctx)
		if err != nil {
			return note{}, sight{}, err
		}
		after, err := g.store.look(ctx)
		if err != nil {
			return note{}, sight{}, err
		}
		if after.record == before.record || noted.knows(after) {
			return noted, after, nil
		}
		before = after
	}
}

// adopt makes the store the one that the host cluster knows.
func (g *guard) adopt(ctx context.Context, noted note, seen sight, why string) (sight, outcome, error) {
	if err := g.notes.write(ctx, noted, seen); err != nil {
		return sight{}, 0, err
	}
	klog.FromContext(ctx).Info("The host cluster knows this store from now on", "store", seen.Store, "revision", seen.marked,
		"why", why, "before", noted.store, "beforeRevision", noted.revision)
	return seen, adopted, nil
}

// weigh finds out what depends on the sets.
func (g *guard) weigh(ctx context.Context, noted note, seen sight) (*refusal, error) {
	owners, err := dependents.FindOwners(ctx, g.host)
	if err != nil {
		return nil, err
	}
	stored, err := g.stored(ctx)
	if err != nil {
		return nil, err
	}
	weighed := &refusal{noted: noted, seen: seen, owners: owners, stored: len(stored), advice: g.advice, at: time.Now()}
	for at, o := range owners {
		if !stored[at] {
			weighed.missing = append(weighed.missing, o)
		}
	}
	return weighed, nil
}
