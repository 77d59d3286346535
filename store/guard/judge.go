// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"statefulset.dev/store/dependents"
)

// assessInterval is how often what is at stake is counted anew while the store and
// the anchor stay as they are: it takes a list of all pods.
const assessInterval = time.Minute

// judge decides whether the store is the right one. Last is what was said about
// it before, nil if nothing was. The error is a *refusal if the store is not
// right, and another one if that cannot be told yet.
//
//	the anchor names this store, and a mark that it holds  right
//	an operator has accepted exactly this store            right, and noted
//	nothing in the host belongs to any set                 right, and noted
//	no anchor, and the store has every set that a member in
//	the host belongs to                                    right, and noted
//	otherwise                                              refused
//
// A store that was set back is refused even if it has all the sets: it may have
// them with fewer members, whose pods and claims would go.
func (g *Guard) judge(ctx context.Context, last *refusal) (observation, outcome, error) {
	noted, seen, err := g.compare(ctx)
	switch {
	case err != nil:
		return observation{}, 0, err
	case noted.knows(seen):
		return seen, asNoted, nil
	case noted.Accepted == seen.Name():
		return g.adopt(ctx, noted, seen, "an operator has accepted it")
	case last.stillHolds(noted, seen):
		return observation{}, 0, last
	}
	assessed, err := g.assess(ctx, noted, seen)
	switch {
	case err != nil:
		return observation{}, 0, err
	case len(assessed.owners) == 0:
		return g.adopt(ctx, noted, seen, "nothing in the host cluster belongs to a set")
	case noted.Blank() && !slices.ContainsFunc(assessed.missing, dependents.Owner.HasMembers):
		return g.adopt(ctx, noted, seen, "the host cluster has no note, and this store has every set that a member there belongs to")
	case noted.object == nil:
		if err := g.anchors.createEmpty(ctx); err != nil {
			return observation{}, 0, err
		}
	}
	return observation{}, 0, assessed
}

// compare reads the record and the anchor as they were at one moment. Other
// replicas may set marks meanwhile.
func (g *Guard) compare(ctx context.Context) (anchor, observation, error) {
	before, err := g.store.Read(ctx)
	if err != nil {
		return anchor{}, observation{}, err
	}
	for {
		noted, err := g.anchors.Read(ctx)
		if err != nil {
			return anchor{}, observation{}, err
		}
		after, err := g.store.Read(ctx)
		if err != nil {
			return anchor{}, observation{}, err
		}
		if after.record == before.record || noted.knows(after) {
			return noted, after, nil
		}
		before = after
	}
}

// adopt makes the store the one that the host cluster knows.
func (g *Guard) adopt(ctx context.Context, noted anchor, seen observation, why string) (observation, outcome, error) {
	if err := g.anchors.Write(ctx, noted, seen); err != nil {
		return observation{}, 0, err
	}
	klog.FromContext(ctx).Info("The host cluster knows this store from now on", "store", seen.Store, "revision", seen.Marked,
		"why", why, "before", noted.store, "beforeRevision", noted.Revision)
	return seen, adopted, nil
}

// assess finds out what depends on the sets.
func (g *Guard) assess(ctx context.Context, noted anchor, seen observation) (*refusal, error) {
	owners, err := dependents.FindOwners(ctx, g.host)
	if err != nil {
		return nil, err
	}
	stored, err := g.stored(ctx)
	if err != nil {
		return nil, err
	}
	assessed := &refusal{noted: noted, seen: seen, owners: owners, stored: len(stored), advice: g.advice, at: time.Now()}
	for at, o := range owners {
		if !stored[at] {
			assessed.missing = append(assessed.missing, o)
		}
	}
	return assessed, nil
}
