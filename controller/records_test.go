// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

func TestWhatASyncReadsOfRevisionsIsThereForTheNextUntilTheSetIsGone(t *testing.T) {
	set := newSet("web")
	earlier := newRevision(set, "rev")
	earlier.Labels = set.Spec.Selector.MatchLabels
	earlier.Data.Raw = []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/shop:0"}]}}}}`)
	term, _ := newTestTerm(t, set, newPod(set, 0), newPod(set, 1), newPod(set, 2), earlier)
	term.recorder = record.NewFakeRecorder(10)
	key := cache.MetaObjectToName(set)
	handedOn := func() bool {
		world, err := term.observe(t.Context(), set)
		if err != nil {
			t.Fatalf("observing: %v", err)
		}
		return !world.Records.None()
	}

	if handedOn() {
		t.Error("before the first sync: got something that was read, want nothing")
	}
	if _, err := term.sync(t.Context(), nil, key); err != nil {
		t.Fatalf("syncing: %v", err)
	}
	if !handedOn() {
		t.Error("after a sync during an update: got nothing that was read, want the earlier revision")
	}
	if err := term.view[setsResource].Delete(set); err != nil {
		t.Fatal(err)
	}
	if _, err := term.sync(t.Context(), nil, key); err != nil {
		t.Fatalf("syncing: %v", err)
	}
	if handedOn() || len(term.records.sets) > 0 {
		t.Errorf("when the set is gone: got %d sets with something that was read, want none", len(term.records.sets))
	}
}
