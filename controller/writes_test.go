// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/plan/action"
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
	pod0 := action.Target{Name: "web-0", UID: "old"}
	cases := map[string]struct {
		wrote func(*setState)
		seen  seen
		want  []resource
	}{
		"nothing written": {func(*setState) {}, seen{}, nil},
		"a view older than a created pod": {
			func(r *setState) { r.wrote(podsResource, "120") }, seen{versions: map[resource]string{podsResource: "119"}}, []resource{podsResource},
		},
		"a view that has come to the created pod": {
			func(r *setState) { r.wrote(podsResource, "120") }, seen{versions: map[resource]string{podsResource: "120"}}, nil,
		},
		"a longer number is a later one": {
			func(r *setState) { r.wrote(podsResource, "999") }, seen{versions: map[resource]string{podsResource: "1000"}}, nil,
		},
		"the latest of several writes counts": {
			func(r *setState) { r.wrote(podsResource, "121"); r.wrote(podsResource, "120") },
			seen{versions: map[resource]string{podsResource: "120"}}, []resource{podsResource},
		},
		"pods tell nothing about claims": {
			func(r *setState) { r.wrote(claimsResource, "120") },
			seen{versions: map[resource]string{podsResource: "500", claimsResource: "119"}}, []resource{claimsResource},
		},
		"an own status that is not seen yet": {
			func(r *setState) { r.wrote(setsResource, "9") }, seen{versions: map[resource]string{setsResource: "8"}}, []resource{setsResource},
		},
		"an empty view has seen nothing": {
			func(r *setState) { r.wrote(podsResource, "120") }, seen{}, []resource{podsResource},
		},
		"versions that are no numbers are only equal or not": {
			func(r *setState) { r.wrote(podsResource, "b") }, seen{versions: map[resource]string{podsResource: "c"}}, []resource{podsResource},
		},
		"a deleted pod that the view still has": {
			func(r *setState) { r.removed(podsResource, pod0) }, seen{live: map[string]types.UID{"web-0": "old"}}, []resource{podsResource},
		},
		"a deleted pod that another one has followed": {
			func(r *setState) { r.removed(podsResource, pod0) }, seen{live: map[string]types.UID{"web-0": "new"}}, nil,
		},
		"a deleted pod that is gone": {func(r *setState) { r.removed(podsResource, pod0) }, seen{}, nil},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			writes := &setState{key: cache.NewObjectName("shop", "web")}
			test.wrote(writes)
			if got := writes.unseen(test.seen.view(t)); !slices.Equal(got, test.want) {
				t.Errorf("got %v unseen, want %v", got, test.want)
			}
			if got, want := writes.awaits(), len(test.want) > 0; got != want {
				t.Errorf("got awaited %v, want %v", got, want)
			}
		})
	}
}

func TestAWriteThatWasSeenIsNotWaitedForAgain(t *testing.T) {
	writes := &setState{key: cache.NewObjectName("shop", "web")}
	writes.wrote(podsResource, "120")
	writes.removed(podsResource, action.Target{Name: "web-1", UID: "old"})
	writes.unseen(seen{versions: map[resource]string{podsResource: "130"}}.view(t))
	// A cache that begins anew may be behind for a while; what it has shown stays shown.
	if got := writes.unseen(seen{live: map[string]types.UID{"web-1": "old"}}.view(t)); len(got) > 0 {
		t.Errorf("got %v unseen, want nothing", got)
	}
}

func TestOnlyTheLastStatusIsTheSetsOwn(t *testing.T) {
	writes := &setState{key: cache.NewObjectName("shop", "web")}
	writes.wrote(setsResource, "8")
	writes.wrote(setsResource, "9")
	for version, want := range map[string]bool{"8": false, "9": true, "10": false} {
		if got := writes.isOwnStatus(version); got != want {
			t.Errorf("version %s: got own status %v, want %v", version, got, want)
		}
	}
}
