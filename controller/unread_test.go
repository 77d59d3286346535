// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/identity"
)

// readsOfKind are the names that the host was asked for past the caches.
func readsOfKind(host *fake.Clientset, kind resource) []string {
	var names []string
	for _, action := range host.Actions() {
		switch action := action.(type) {
		case clienttesting.GetAction:
			if action.GetResource().Resource == string(kind) {
				names = append(names, action.GetName())
			}
		case clienttesting.ListAction:
			if name, ok := action.GetListRestrictions().Fields.RequiresExactMatch("metadata.name"); ok &&
				action.GetResource().Resource == string(kind) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func TestTheClaimsThatWereThereBeforeTheSetAreRead(t *testing.T) {
	set := newSet("web", "www")
	term, host := newTestTerm(t, set)
	stubs := map[string]any{}
	for ordinal := range 3 {
		claim := identity.Claims(set, ordinal)[0]
		claim.Labels = map[string]string{"from": "before"}
		if err := host.Tracker().Add(claim); err != nil {
			t.Fatal(err)
		}
		// No set wanted it when it came.
		stubs[claim.Name] = trimClaim(filled(t), claim)
		if err := term.view.put(claimsResource, stubs[claim.Name]); err != nil {
			t.Fatal(err)
		}
	}
	claims := func() (all []string) {
		world, err := term.observe(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		for _, claim := range world.Claims {
			all = append(all, claim.Name+" from "+claim.Labels["from"])
		}
		slices.Sort(all)
		return all
	}
	changed := identity.Claims(set, 1)[0]
	changed.Labels = map[string]string{"from": "after"}
	for _, step := range []struct {
		sentence  string
		happens   func() error
		wantReads []string
		want      []string
	}{
		{"the set is new", func() error { return nil },
			[]string{"www-web-0", "www-web-1", "www-web-2"}, []string{"www-web-0 from before", "www-web-1 from before", "www-web-2 from before"}},
		{"it is looked at again", func() error { return nil }, nil,
			[]string{"www-web-0 from before", "www-web-1 from before", "www-web-2 from before"}},
		{"a claim changes", func() error { return term.view.put(claimsResource, trimClaim(term.view, changed)) }, nil,
			[]string{"www-web-0 from before", "www-web-1 from after", "www-web-2 from before"}},
		{"a claim goes", func() error { return term.view[claimsResource].Delete(stubs["www-web-2"]) }, nil,
			[]string{"www-web-0 from before", "www-web-1 from after"}},
	} {
		host.ClearActions()
		if err := step.happens(); err != nil {
			t.Fatal(err)
		}
		if got := claims(); !slices.Equal(got, step.want) {
			t.Errorf("%s: got claims %v, want %v", step.sentence, got, step.want)
		}
		if got := readsOfKind(host, claimsResource); !slices.Equal(got, step.wantReads) {
			t.Errorf("%s: got reads of %v, want %v", step.sentence, got, step.wantReads)
		}
	}
	if got := len(term.states.find(cache.MetaObjectToName(set)).read); got != 1 {
		t.Errorf("got %d claims remembered, want the one that has not changed", got)
	}
}

func TestTheRecordOfABuiltInSetOfTheNameIsRead(t *testing.T) {
	set := newSet("web")
	term, host := newTestTerm(t, set)
	theirs := newRevision(set, "web-5d4f")
	theirs.OwnerReferences[0].APIVersion, theirs.OwnerReferences[0].UID = "apps/v1", "another"
	theirs.Data.Raw = []byte(`{"spec":{}}`)
	if err := host.Tracker().Add(theirs); err != nil {
		t.Fatal(err)
	}
	if err := term.view.put(revisionsResource, trimRevision(filled(t), theirs)); err != nil {
		t.Fatal(err)
	}
	world, err := term.observe(t.Context(), set)
	if err != nil || len(world.Revisions) != 1 || !bytes.Equal(world.Revisions[0].Data.Raw, theirs.Data.Raw) {
		t.Errorf("got revisions %v and error %v, want the one that has the name, with its data", world.Revisions, err)
	}
	if got, want := readsOfKind(host, revisionsResource), []string{"web-5d4f"}; !slices.Equal(got, want) {
		t.Errorf("got reads of %v, want %v", got, want)
	}
}

func TestARevisionIsKeptWholeIfASetCouldWantIt(t *testing.T) {
	web := newSet("web")
	for sentence, test := range map[string]struct {
		change func(*appsv1.ControllerRevision)
		want   bool
	}{
		"one of a set of ours": {func(*appsv1.ControllerRevision) {}, true},
		"one of a set of ours that is not known yet": {
			func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].UID, r.Name = "new", "new-5d4f" }, true},
		"one that nobody controls": {
			func(r *appsv1.ControllerRevision) { r.OwnerReferences, r.Name = nil, "new-5d4f" }, true},
		"one of a built-in set that has the name of one": {
			func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].APIVersion = "apps/v1" }, true},
		"not one of a built-in set that no set of ours is like": {
			func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].APIVersion, r.Name = "apps/v1", "db-5d4f" }, false},
		"not one of a DaemonSet, whatever its name": {func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].Kind = "DaemonSet" }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			revision := newRevision(web, "web-5d4f")
			test.change(revision)
			if _, got := trimRevision(filled(t, web), revision).(*appsv1.ControllerRevision); got != test.want {
				t.Errorf("kept whole: got %t, want %t", got, test.want)
			}
		})
	}
}

func TestTheHostIsListedWhenItIsKnownWhichSetsThereAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := newSet("web", "www")
		host, sets := fake.NewClientset(identity.Claims(set, 0)[0]), setsfake.NewSimpleClientset(set)
		sets.PrependReactor("list", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
			time.Sleep(10 * time.Second)
			return false, nil, nil
		})
		all := watchedKinds(host, sets)
		informers, v := newInformers(all)
		term := &term{kinds: all, informers: informers, view: v}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{}, len(all))
		for i := range all {
			go func() { term.runInformer(ctx, &all[i]); done <- struct{}{} }()
		}
		eventually(t, "the caches are filled", func() bool { return informers.unsynced(all) == "" })
		if claim, ok := get[*corev1.PersistentVolumeClaim](v, claimsResource, "shop", "www-web-0"); !ok {
			t.Errorf("got %v in the cache, want the claim whole", claim)
		}
		cancel()
		for range all {
			<-done
		}
	})
}
