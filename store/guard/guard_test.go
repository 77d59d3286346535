// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/store/guard"
)

func TestAStoreIsJudged(t *testing.T) {
	other := guard.NewObservation(guard.Record{Store: "other", Mark: "m"}, 70)
	current := func(t *testing.T, s *guard.Store) guard.Observation {
		seen, err := s.Read(t.Context())
		if err != nil {
			t.Fatalf("reading the store: %v", err)
		}
		return seen
	}
	tests := map[string]struct {
		owners []*v1.StatefulSet
		// anchor writes what the cluster knows, given the store.
		note func(*testing.T, *guardedHost, *guard.Store)
		want []string // parts of the refusal; none if the store is right
	}{
		"a new store of a new cluster is right": {},
		"a store without a note is refused when it lacks a set of the host": {
			owners: []*v1.StatefulSet{servertest.Owning("web")},
			want: []string{
				"the cluster has no note about a store", "1 pod, 0 claims and 0 revisions of 1 set.", "1 set of them is not in this store"},
		},
		"the noted store is right": {
			owners: []*v1.StatefulSet{servertest.Owning("web")},
			note:   func(t *testing.T, h *guardedHost, s *guard.Store) { h.knowing(t, current(t, s)) },
		},
		"a store is right whose last mark was not noted any more": {
			owners: []*v1.StatefulSet{servertest.Owning("web")},
			note: func(t *testing.T, h *guardedHost, s *guard.Store) {
				h.knowing(t, current(t, s))
				if _, ok, err := s.Mark(t.Context(), current(t, s), ""); err != nil || !ok {
					t.Fatalf("marking: got %t, %v", ok, err)
				}
			},
		},
		"another store is refused": {
			owners: []*v1.StatefulSet{servertest.Owning("web"), servertest.Owning("db")},
			note:   func(t *testing.T, h *guardedHost, _ *guard.Store) { h.knowing(t, other) },
			want: []string{"the cluster knows store other, last marked at revision 70", "2 pods, 0 claims and 0 revisions of 2 sets.",
				"2 sets of them are not in this store"},
		},
		"another store is right when the host has nothing of ours": {
			note: func(t *testing.T, h *guardedHost, _ *guard.Store) { h.knowing(t, other) },
		},
		"an older copy is refused": {
			owners: []*v1.StatefulSet{servertest.Owning("web")},
			note: func(t *testing.T, h *guardedHost, s *guard.Store) {
				later := current(t, s)
				later.Mark, later.Marked = "later", later.Marked+100
				h.knowing(t, later)
			},
			want: []string{"an older copy of the right store", "the cluster knows a later mark, at revision 1"},
		},
		"a backup whose revision was raised is refused": {
			owners: []*v1.StatefulSet{servertest.Owning("web")},
			note: func(t *testing.T, h *guardedHost, s *guard.Store) {
				first := current(t, s)
				lost := first
				lost.Mark = "lost"
				h.knowing(t, lost)
				for range 3 {
					next, ok, err := s.Mark(t.Context(), current(t, s), "")
					if err != nil || !ok || next.Marked <= lost.Marked {
						t.Fatalf("marking: got %+v, %t, %v", next, ok, err)
					}
				}
			},
			want: []string{"another copy of the right store, or one restored from a backup"},
		},
		"an accepted store is right": {
			owners: []*v1.StatefulSet{servertest.Owning("web")},
			note: func(t *testing.T, h *guardedHost, s *guard.Store) {
				h.knowing(t, other)
				h.annotate(t, current(t, s).Name())
			},
		},
		"another store is refused although one was accepted": {
			owners: []*v1.StatefulSet{servertest.Owning("web")},
			note: func(t *testing.T, h *guardedHost, s *guard.Store) {
				h.knowing(t, other)
				h.annotate(t, current(t, s).Store+"@1")
			},
			want: []string{"the cluster knows store other"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := newGuardedHost(t, test.owners...)
			choose, configure := host.guarded(t, func(s *guard.Store) {
				if test.note != nil {
					test.note(t, host, s)
				}
			})
			s := servertest.StartUnready(t, choose, configure)
			if len(test.want) == 0 {
				s.Eventually(t, "the server is ready", s.Ready)
				s.Create(t, servertest.Web("new"))
				s.Eventually(t, "the note names the mark of the store", func(ctx context.Context) error { return host.noted(ctx) })
				return
			}
			text := refusalOf(t, s)
			t.Log(text)
			for _, part := range append(test.want, "the API group apps.statefulset.dev is not served", "store restore --from=",
				"store rebuild --kubeconfig=/kube --data-dir=/data --dry-run", "annotate --overwrite configmap statefulset-apiserver-store") {
				if !strings.Contains(text, part) {
					t.Errorf("refusal: got %q, want it to contain %q", text, part)
				}
			}
			if strings.Contains(text, "\n") || strings.Contains(text, "web") {
				t.Errorf("refusal: got %q, want one paragraph that names no object", text)
			}
		})
	}
}

func TestAnOperatorAcceptsAStoreWhileTheServerRuns(t *testing.T) {
	host := newGuardedHost(t, servertest.Owning("web"))
	host.knowing(t, guard.NewObservation(guard.Record{Store: "other", Mark: "m"}, 70))
	began := make(chan struct{})
	choose, configure := host.guarded(t, nil)
	s := servertest.StartUnready(t, choose, configure, func(c *apiserver.Config) {
		c.RunController = func(ctx context.Context, _ *rest.Config) error {
			return c.Guard.WhileRight(ctx, func(ctx context.Context) error {
				close(began)
				<-ctx.Done()
				return nil
			})
		}
	})
	text := refusalOf(t, s)
	select {
	case <-began:
		t.Error("the controller runs although the store was refused")
	default:
	}
	_, name, _ := strings.Cut(text, guard.AcceptAnnotation+"=")
	name, _, _ = strings.Cut(name, "`")
	host.annotate(t, name)
	s.Eventually(t, "the server is ready", s.Ready)
	<-began
	s.Create(t, servertest.Web("new"))
	if err := host.noted(t.Context()); err != nil {
		t.Error(err)
	}
	if end := host.ended.Load(); end != nil {
		t.Errorf("the process was told to end: %v", *end)
	}
}

func TestAStoreThatIsExchangedWhileTheServerRuns(t *testing.T) {
	for name, exchange := range map[string]func(*testing.T, *guard.Guard){
		"for another one": func(t *testing.T, g *guard.Guard) {
			content, _ := json.Marshal(guard.Record{Store: "other", Mark: "m"})
			if _, err := guard.StoreOf(g).Client.Put(t.Context(), guard.StoreOf(g).Key, string(content)); err != nil {
				t.Fatalf("exchanging: %v", err)
			}
		},
		"for an older copy": func(t *testing.T, g *guard.Guard) {
			seen, err := guard.StoreOf(g).Read(t.Context())
			if err != nil {
				t.Fatalf("reading: %v", err)
			}
			seen.Mark, seen.Before, seen.History = "older", "oldest", "older"
			content, _ := json.Marshal(guard.RecordOf(seen))
			if _, err := guard.StoreOf(g).Client.Put(t.Context(), guard.StoreOf(g).Key, string(content)); err != nil {
				t.Fatalf("exchanging: %v", err)
			}
		},
		"for an empty one": func(t *testing.T, g *guard.Guard) {
			if _, err := guard.StoreOf(g).Client.Delete(t.Context(), guard.StoreOf(g).Key); err != nil {
				t.Fatalf("exchanging: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := newGuardedHost(t, servertest.Owning("web"))
			host.objects = newGuardedHost(t).objects // at first nothing depends on the store
			var g *guard.Guard
			choose, configure := host.guarded(t, nil)
			s := servertest.StartWith(t, choose, configure, func(c *apiserver.Config) { g = c.Guard })
			s.Create(t, servertest.Web("web"))
			watcher, err := s.Sets().Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("watching: %v", err)
			}
			defer watcher.Stop()

			exchange(t, g)
			// The very first "not found" is not told, whether or not the guard has looked.
			if _, err := s.Sets().Get(t.Context(), "gone", metav1.GetOptions{}); !apierrors.IsServiceUnavailable(err) {
				t.Errorf("get of a set that is not there: got %v, want 503", err)
			}
			if _, err := s.Sets().List(t.Context(), metav1.ListOptions{}); !apierrors.IsServiceUnavailable(err) {
				t.Errorf("list: got %v, want 503", err)
			}
			s.Eventually(t, "the watch ends", func(context.Context) error {
				select {
				case _, open := <-watcher.ResultChan():
					if !open {
						return nil
					}
				default:
				}
				return errors.New("it is open")
			})
		})
	}
}

func TestTheMarkCoversASet(t *testing.T) {
	host := newGuardedHost(t)
	var g *guard.Guard
	choose, configure := host.guarded(t, nil)
	s := servertest.StartWith(t, choose, configure, func(c *apiserver.Config) { g = c.Guard })
	for i := range 3 {
		set := s.Create(t, servertest.Web(fmt.Sprintf("web%d", i)))
		if err := g.Covered(t.Context(), set.ResourceVersion); err != nil {
			t.Fatalf("waiting for the mark: %v", err)
		}
		noted, err := host.notes().Read(t.Context())
		if err != nil {
			t.Fatalf("reading the note: %v", err)
		}
		if got, want := fmt.Sprint(noted.Revision), set.ResourceVersion; len(got) < len(want) || len(got) == len(want) && got < want {
			t.Errorf("noted revision: got %s, want at least %s", got, want)
		}
	}
	if err := g.Covered(t.Context(), "x"); err == nil {
		t.Error("covering resource version x: got no error")
	}
}

// A watch goes on from where the client was only if that was in this store.
func TestAWatchFromAnotherStoreHasToListAgain(t *testing.T) {
	choose, configure := newGuardedHost(t).guarded(t, nil)
	s := servertest.StartWith(t, choose, configure)
	set := s.Create(t, servertest.Web("web"))
	watcher, err := s.Sets().Watch(t.Context(), metav1.ListOptions{ResourceVersion: set.ResourceVersion})
	if err != nil {
		t.Fatalf("watching from version %s, which was just written: %v", set.ResourceVersion, err)
	}
	watcher.Stop()
	_, err = s.Sets().Watch(t.Context(), metav1.ListOptions{ResourceVersion: "4000000"})
	if !apierrors.IsResourceExpired(err) || !strings.Contains(err.Error(), "4000000") {
		t.Errorf("watching from version 4000000: got %v, want it expired", err)
	}
}

func TestTheNoteComesBackWhenItIsDeleted(t *testing.T) {
	host := newGuardedHost(t)
	host.tune = func(g *guard.Guard) { guard.SetRecheckInterval(g, time.Millisecond) }
	choose, configure := host.guarded(t, nil)
	s := servertest.StartWith(t, choose, configure)
	if err := host.client.CoreV1().ConfigMaps(anchorNamespace).Delete(t.Context(), guard.NoteName, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the note: %v", err)
	}
	s.Eventually(t, "the note is back", host.noted)
}
