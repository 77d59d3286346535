// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		return !world.Cache.IsEmpty()
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
	term.states.getOrCreate(key).ownWrites = ownWrites{} // the caches have shown it
	if err := term.view[setsResource].Delete(set); err != nil {
		t.Fatal(err)
	}
	if _, err := term.sync(t.Context(), nil, key); err != nil {
		t.Fatalf("syncing: %v", err)
	}
	if got := len(term.states.sets); got > 0 {
		t.Errorf("when the set is gone: got %d memos, want none", got)
	}
}

func TestAsMuchIsRememberedAsThereAreSets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many, left = 50, 3
		busy, client := startBusyTerm(t, 0)
		for i := range many {
			set := parallelSet(fmt.Sprintf("web-%d", i), 2)
			if _, err := client.AppsV1().StatefulSets("shop").Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "there is a memo of each set", func() bool { return len(busy.term.states.all()) == many })
		for i := range many - left {
			if err := client.AppsV1().StatefulSets("shop").Delete(t.Context(), fmt.Sprintf("web-%d", i), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "the sets that are gone are forgotten", func() bool { return len(busy.term.states.all()) == left })
	})
}

func TestASetWaitsForTheWritesOfOneOfItsNameThatIsGone(t *testing.T) {
	set := newSet("web")
	term, host := newTestTerm(t, set)
	key := cache.MetaObjectToName(set)
	term.states.getOrCreate(key).wrote(podsResource, "120")
	for _, step := range []struct {
		sentence string
		happens  func() error
		waits    bool
		writes   bool
	}{
		{"the set is gone", func() error { return term.view[setsResource].Delete(set) }, true, false},
		{"another of its name comes", func() error {
			next := newSet("web")
			next.UID = "next"
			return term.view.put(setsResource, next)
		}, true, false},
		{"the cache shows the write", func() error { term.view[podsResource].Bookmark("120"); return nil }, false, true},
	} {
		if err := step.happens(); err != nil {
			t.Fatal(err)
		}
		term.recorder = record.NewFakeRecorder(10)
		again, err := term.sync(t.Context(), nil, key)
		if err != nil && !isStaleRead(err) {
			t.Fatalf("%s: %v", step.sentence, err)
		}
		if waits, writes := again == staleViewInterval, len(writesTo(host)) > 0; waits != step.waits || writes != step.writes {
			t.Errorf("%s: got that it waits: %t, and that it writes to the host: %t; want %t and %t", step.sentence, waits, writes, step.waits,
				step.writes)
		}
	}
}
