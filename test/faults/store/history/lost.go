// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Lost compares the responses with the storage, and returns one sentence for each acknowledged
// write that is missing or different there, for each read of a version that was never stored, and
// for each stored change that no client has requested.
func Lost(operations []Operation, truth *Truth) []string {
	var found []string
	asked, deleted := map[string]bool{}, map[types.UID]bool{}
	for _, op := range operations {
		switch op.Kind {
		case Read:
		case Delete:
			deleted[op.BaseUID] = true
		case Create, Update, Patch:
			asked[op.Write] = true
		}
		if op.Answer == Done {
			found = append(found, misanswered(op, truth)...)
		}
	}
	for _, change := range truth.Changes {
		if change.Deleted && !deleted[change.UID] {
			found = append(found, fmt.Sprintf("no client has deleted %s (%s) at revision %d", change.Key, change.UID, change.Revision))
		}
		if !change.Deleted && !asked[change.Write] {
			found = append(found, fmt.Sprintf("no client has requested write %q of %s at revision %d", change.Write, change.Key, change.Revision))
		}
	}
	return found
}

// misanswered returns what is wrong with the response to an operation that was carried out.
func misanswered(op Operation, truth *Truth) []string {
	switch op.Kind {
	case Read:
		if stored := truth.byWrite[op.Got.Write]; stored != op.Got {
			return []string{fmt.Sprintf("the storage never contained what was read, but %+v: %v", stored, op)}
		}
	case Delete:
		if _, ok := truth.deletions[op.BaseUID]; !ok {
			return []string{fmt.Sprintf("the storage contains no deletion of %s: %v", op.BaseUID, op)}
		}
	case Create, Update, Patch:
		if stored, ok := truth.byWrite[op.Write]; !ok {
			return []string{fmt.Sprintf("the storage does not contain this write: %v", op)}
		} else if stored != op.Got {
			return []string{fmt.Sprintf("the storage contains %+v, but the client got %+v: %v", stored, op.Got, op)}
		}
	}
	return nil
}

// Inconsistent returns one sentence for each list that differs from the content of the storage at
// the list's revision.
func Inconsistent(snapshots []Snapshot, truth *Truth) []string {
	var found []string
	for _, snapshot := range snapshots {
		want := truth.At(snapshot.Revision)
		for _, got := range snapshot.Versions {
			if want[got.Key] != got {
				found = append(found, fmt.Sprintf("a list at revision %d shows %+v, but the storage contained %+v", snapshot.Revision, got, want[got.Key]))
			}
			delete(want, got.Key)
		}
		for key, missing := range want {
			found = append(found, fmt.Sprintf("a list at revision %d with %d objects lacks %s of revision %d", snapshot.Revision,
				len(snapshot.Versions), key, missing.Revision))
		}
	}
	return found
}
