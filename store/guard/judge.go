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

// assessInterval is how often the objects at risk are counted again while the store and the note do
// not change: it requires a list of all pods.
const assessInterval = time.Minute

// judge decides whether the store is the right one. last is the previous refusal, nil if there was
// none. The error is a *refusal if the store is not right, and another error if that is not known
// yet.
//
//	the note names this store, and a mark that it contains       right
//	an operator has accepted exactly this store                  right, and recorded
//	no object in the cluster belongs to a set                    right, and recorded
//	no note, and the store has every set to which a member in
//	the cluster belongs                                          right, and recorded
//	otherwise                                                    refused
//
// A restored earlier state is refused even if it has all the sets: they may have had fewer members
// then, and the pods and claims of the others would be deleted.
func (g *Guard) judge(ctx context.Context, last *refusal) (observation, outcome, error) {
	note, seen, err := g.compare(ctx)
	switch {
	case err != nil:
		return observation{}, 0, err
	case note.matches(seen):
		return seen, alreadyTrusted, nil
	case note.Accepted == seen.Name():
		return g.adopt(ctx, note, seen, "an operator has accepted it")
	case last.stillHolds(note, seen):
		return observation{}, 0, last
	}
	assessed, err := g.assess(ctx, note, seen)
	switch {
	case err != nil:
		return observation{}, 0, err
	case len(assessed.owners) == 0:
		return g.adopt(ctx, note, seen, "nothing in the host cluster belongs to a set")
	case note.IsBlank() && !slices.ContainsFunc(assessed.missing, dependents.Owner.HasMembers):
		return g.adopt(ctx, note, seen, "the host cluster has no note, and this store has every set to which a member there belongs")
	case note.object == nil:
		if err := g.notes.createEmpty(ctx); err != nil {
			return observation{}, 0, err
		}
	}
	return observation{}, 0, assessed
}

// compare reads the record and the note as they were at one moment. Other replicas may set marks
// meanwhile.
func (g *Guard) compare(ctx context.Context) (storeNote, observation, error) {
	before, err := g.store.Read(ctx)
	if err != nil {
		return storeNote{}, observation{}, err
	}
	for {
		note, err := g.notes.Read(ctx)
		if err != nil {
			return storeNote{}, observation{}, err
		}
		after, err := g.store.Read(ctx)
		if err != nil {
			return storeNote{}, observation{}, err
		}
		if after.record == before.record || note.matches(after) {
			return note, after, nil
		}
		before = after
	}
}

// adopt records the store in the note, so that the host cluster knows it.
func (g *Guard) adopt(ctx context.Context, note storeNote, seen observation, why string) (observation, outcome, error) {
	if err := g.notes.Write(ctx, note, seen); err != nil {
		return observation{}, 0, err
	}
	klog.FromContext(ctx).Info("Recorded this store in the note of the host cluster", "store", seen.Store, "revision", seen.Marked,
		"why", why, "before", note.store, "beforeRevision", note.Revision)
	return seen, adopted, nil
}

// assess determines what depends on the sets.
func (g *Guard) assess(ctx context.Context, note storeNote, seen observation) (*refusal, error) {
	owners, err := dependents.FindOwners(ctx, g.host)
	if err != nil {
		return nil, err
	}
	stored, err := g.stored(ctx)
	if err != nil {
		return nil, err
	}
	assessed := &refusal{note: note, seen: seen, owners: owners, stored: len(stored), advice: g.advice, at: time.Now()}
	for at, o := range owners {
		if !stored[at] {
			assessed.missing = append(assessed.missing, o)
		}
	}
	return assessed, nil
}
