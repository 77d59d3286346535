// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/plan"
)

// seen is what a view shows in these tests: how far it has come with each kind, and the
// UIDs of live pods by name.
type seen struct {
	versions map[resource]string
	live     map[string]types.UID
}

func (s seen) view(t *testing.T) view {
	t.Helper()
	v := filled(t)
	for name, uid := range s.live {
		pod := newPod(newSet("web"), 0)
		pod.Name, pod.UID = name, uid
		if err := v.put(podsResource, pod); err != nil {
			t.Fatal(err)
		}
	}
	for kind, version := range s.versions {
		v[kind].Bookmark(version)
	}
	return v
}

func TestASetWaitsForTheViewThatShowsItsOwnWrites(t *testing.T) {
	web := cache.NewObjectName("shop", "web")
	pod0 := plan.Target{Name: "web-0", UID: "old"}
	cases := map[string]struct {
		wrote func(*ownWrites)
		seen  seen
		want  []resource
	}{
		"nothing written": {func(*ownWrites) {}, seen{}, nil},
		"a view older than a created pod": {
			func(w *ownWrites) { w.wrote(web, podsResource, "120") }, seen{versions: map[resource]string{podsResource: "119"}}, []resource{podsResource},
		},
		"a view that has come to the created pod": {
			func(w *ownWrites) { w.wrote(web, podsResource, "120") }, seen{versions: map[resource]string{podsResource: "120"}}, nil,
		},
		"a longer number is a later one": {
			func(w *ownWrites) { w.wrote(web, podsResource, "999") }, seen{versions: map[resource]string{podsResource: "1000"}}, nil,
		},
		"the latest of several writes counts": {
			func(w *ownWrites) { w.wrote(web, podsResource, "121"); w.wrote(web, podsResource, "120") },
			seen{versions: map[resource]string{podsResource: "120"}}, []resource{podsResource},
		},
		"pods tell nothing about claims": {
			func(w *ownWrites) { w.wrote(web, claimsResource, "120") },
			seen{versions: map[resource]string{podsResource: "500", claimsResource: "119"}}, []resource{claimsResource},
		},
		"an own status that is not seen yet": {
			func(w *ownWrites) { w.wrote(web, setsResource, "9") }, seen{versions: map[resource]string{setsResource: "8"}}, []resource{setsResource},
		},
		"an empty view has seen nothing": {
			func(w *ownWrites) { w.wrote(web, podsResource, "120") }, seen{}, []resource{podsResource},
		},
		"versions that are no numbers are only equal or not": {
			func(w *ownWrites) { w.wrote(web, podsResource, "b") }, seen{versions: map[resource]string{podsResource: "c"}}, []resource{podsResource},
		},
		"a deleted pod that the view still has": {
			func(w *ownWrites) { w.removed(web, podsResource, pod0) }, seen{live: map[string]types.UID{"web-0": "old"}}, []resource{podsResource},
		},
		"a deleted pod that another one has followed": {
			func(w *ownWrites) { w.removed(web, podsResource, pod0) }, seen{live: map[string]types.UID{"web-0": "new"}}, nil,
		},
		"a deleted pod that is gone": {func(w *ownWrites) { w.removed(web, podsResource, pod0) }, seen{}, nil},
		"another set's writes": {
			func(w *ownWrites) { w.wrote(cache.NewObjectName("shop", "db"), podsResource, "120") }, seen{}, nil,
		},
		"a set that was forgotten": {
			func(w *ownWrites) { w.wrote(web, podsResource, "120"); w.forget(web) }, seen{}, nil,
		},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			writes := newOwnWrites()
			test.wrote(writes)
			if got := writes.unseen(web, test.seen.view(t)); !slices.Equal(got, test.want) {
				t.Errorf("got %v unseen, want %v", got, test.want)
			}
			if got, want := writes.awaited(web), len(test.want) > 0; got != want {
				t.Errorf("got awaited %v, want %v", got, want)
			}
		})
	}
}

func TestAWriteThatWasSeenIsNotWaitedForAgain(t *testing.T) {
	web := cache.NewObjectName("shop", "web")
	writes := newOwnWrites()
	writes.wrote(web, podsResource, "120")
	writes.removed(web, podsResource, plan.Target{Name: "web-1", UID: "old"})
	writes.unseen(web, seen{versions: map[resource]string{podsResource: "130"}}.view(t))
	// A cache that begins anew may be behind for a while; what it has shown stays shown.
	if got := writes.unseen(web, seen{live: map[string]types.UID{"web-1": "old"}}.view(t)); len(got) > 0 {
		t.Errorf("got %v unseen, want nothing", got)
	}
}

func TestOnlyTheLastStatusIsTheSetsOwn(t *testing.T) {
	web := cache.NewObjectName("shop", "web")
	writes := newOwnWrites()
	writes.wrote(web, setsResource, "8")
	writes.wrote(web, setsResource, "9")
	for version, want := range map[string]bool{"8": false, "9": true, "10": false} {
		if got := writes.isOwnStatus(web, version); got != want {
			t.Errorf("version %s: got own status %v, want %v", version, got, want)
		}
	}
}
