// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Change is one revision of the storage.
type Change struct {
	// Version is the object since then; for a deleted object, its last version, with the revision
	// of the deletion.
	Version
	Deleted bool
	// Previous is the version before, nil if there was none.
	Previous *Version
}

// Truth is the whole history of the storage.
type Truth struct {
	// Changes are in the order of their revisions.
	Changes   []Change
	byWrite   map[string]Version
	deletions map[types.UID]Version
}

// NewTruth orders the changes, each of which may lack its Previous.
func NewTruth(changes []Change) *Truth {
	t := &Truth{Changes: slices.Clone(changes), byWrite: map[string]Version{}, deletions: map[types.UID]Version{}}
	slices.SortFunc(t.Changes, func(a, b Change) int { return cmp.Compare(a.Revision, b.Revision) })
	current := map[string]Version{}
	for i := range t.Changes {
		change := &t.Changes[i]
		if previous, ok := current[change.Key]; ok {
			change.Previous = &previous
		}
		if change.Deleted {
			revision := change.Revision
			if change.Previous != nil {
				change.Version = *change.Previous
			}
			change.Revision = revision
			t.deletions[change.UID] = change.Version
			delete(current, change.Key)
			continue
		}
		t.byWrite[change.Write] = change.Version
		current[change.Key] = change.Version
	}
	return t
}

// At returns the content of the storage at a revision.
func (t *Truth) At(revision int64) map[string]Version {
	state := map[string]Version{}
	for _, change := range t.Changes {
		if change.Revision > revision {
			break
		}
		if change.Deleted {
			delete(state, change.Key)
			continue
		}
		state[change.Key] = change.Version
	}
	return state
}
