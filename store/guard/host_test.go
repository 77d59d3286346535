// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/guard"
)

// A host that was restored, or whose anchor was edited, knows an older mark than the
// store has. The store is right if it has held that mark for this very host.
func TestAHostThatWasSetBack(t *testing.T) {
	marks := func(t *testing.T, s *guard.Store, note types.UID, n int) (all []guard.Observation) {
		t.Helper()
		for range n {
			seen, err := s.Read(t.Context())
			if err != nil {
				t.Fatalf("reading the record: %v", err)
			}
			next, ok, err := s.Mark(t.Context(), seen, note)
			if err != nil || !ok {
				t.Fatalf("marking: got %t, %v", ok, err)
			}
			all = append(all, next)
		}
		return all
	}
	another := func(s *guard.Store) *guard.Store { return guard.NewStore(s.Client, backend.Prefix) }
	tests := map[string]struct {
		prepare func(*testing.T, *guard.Store) (noted guard.Observation)
		want    string // part of the refusal; empty if the store is right
	}{
		"the store has come further than the note": {prepare: func(t *testing.T, s *guard.Store) guard.Observation {
			return marks(t, s, "", 5)[1]
		}},
		"the store has come further, with other servers and restarts": {prepare: func(t *testing.T, s *guard.Store) guard.Observation {
			noted := marks(t, s, "", 3)[0]
			marks(t, another(s), "", 2)
			marks(t, s, "", 2)
			return noted
		}},
		"a copy of the store has come further in another cluster": {prepare: func(t *testing.T, s *guard.Store) guard.Observation {
			noted := marks(t, s, "", 3)[1]
			marks(t, another(s), "elsewhere", 3)
			return noted
		}, want: "or its note was edited; then accept it"},
		"the note has a mark that a copy of the store cannot have": {prepare: func(t *testing.T, s *guard.Store) guard.Observation {
			latest := marks(t, s, "", 3)[2]
			server, number, _ := guard.ParseMark(latest.Mark)
			latest.Mark = fmt.Sprintf("%s.%d", server, number+1)
			marks(t, another(s), "", 3)
			return latest
		}, want: "if the cluster was restored to an earlier state"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := newGuardedHost(t, servertest.Owning("web"))
			choose, configure := host.guarded(t, func(s *guard.Store) { host.knowing(t, test.prepare(t, s)) })
			s := servertest.StartUnready(t, choose, configure)
			if test.want == "" {
				s.Eventually(t, "the server is ready", s.Ready)
				return
			}
			if text := refusalOf(t, s); !strings.Contains(text, test.want) {
				t.Errorf("refusal: got %q, want it to contain %q", text, test.want)
			}
		})
	}
}

// Before there is a anchor, somebody who may create pods must not be able to keep the
// server from starting by an owner reference alone. Members are still counted.
func TestObjectsThatAreNoMembersDoNotBlockTheFirstStart(t *testing.T) {
	change := func(what func(*metav1.PartialObjectMetadata)) func(*guardedHost, *testing.T) {
		return func(h *guardedHost, t *testing.T) {
			h.change(t, "web-0", what)
		}
	}
	for name, test := range map[string]struct {
		forge   func(*guardedHost, *testing.T)
		refused bool
	}{
		"a member": {forge: change(func(*metav1.PartialObjectMetadata) {}), refused: true},
		"a pod that the set does not control": {forge: change(func(pod *metav1.PartialObjectMetadata) {
			pod.OwnerReferences[0].Controller = nil
		})},
		"a pod without the label of a member": {
			forge: change(func(pod *metav1.PartialObjectMetadata) { delete(pod.Labels, appsv1.StatefulSetPodNameLabel) })},
		"a pod of an owner of another name": {forge: change(func(pod *metav1.PartialObjectMetadata) { pod.OwnerReferences[0].Name = "db" })},
		"a pod of an owner of another kind": {forge: change(func(pod *metav1.PartialObjectMetadata) { pod.OwnerReferences[0].Kind = "Other" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := newGuardedHost(t, servertest.Owning("web"))
			test.forge(host, t)
			choose, configure := host.guarded(t, nil)
			s := servertest.StartUnready(t, choose, configure)
			if !test.refused {
				s.Eventually(t, "the server is ready", s.Ready)
				return
			}
			if text := refusalOf(t, s); !strings.Contains(text, "a user has created objects that look like members") {
				t.Errorf("refusal: got %q, want it to say who may have made the objects", text)
			}
		})
	}
}

func TestAnIdleServerHardlyAsksTheHost(t *testing.T) {
	host := newGuardedHost(t)
	var g *guard.Guard
	choose, configure := host.guarded(t, nil)
	s := servertest.StartWith(t, choose, configure, func(c *apiserver.Config) { g = c.Guard })
	set := s.Create(t, servertest.Web("web"))
	if err := g.Covered(t.Context(), set.ResourceVersion); err != nil {
		t.Fatalf("waiting for the mark: %v", err)
	}
	const rounds = 8
	s.Eventually(t, "the server has become idle", func(ctx context.Context) error {
		if !guard.IsIdle(ctx, g) {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	before, begun := len(host.client.Actions()), time.Now()
	for range rounds {
		round := guard.Round(g)
		select {
		case <-round:
		case <-time.After(servertest.Patience):
			t.Fatalf("the guard has not looked at the store within %s", servertest.Patience)
		}
	}
	allowed := int(time.Since(begun)/guard.RecheckInterval) + 1
	if got := len(host.client.Actions()) - before; got > allowed {
		t.Errorf("requests to the host in %s without a write, %d rounds: got %d, want at most %d", time.Since(begun).Round(time.Second), rounds,
			got, allowed)
	}
}

// change changes an object of the host.
func (h *guardedHost) change(t *testing.T, name string, what func(*metav1.PartialObjectMetadata)) {
	t.Helper()
	resource := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	object, err := h.objects.Resource(resource).Namespace(servertest.Namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
	what(object)
	if err := h.objects.Tracker().Update(resource, runtime.Object(object), servertest.Namespace); err != nil {
		t.Fatalf("changing %s: %v", name, err)
	}
}
