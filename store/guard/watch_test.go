// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/guard"
)

const (
	openWatches    = 250
	openWatchLists = 250
)

// witness counts what the clients of a server are told about one set that is there.
type witness struct {
	sets versioned.Interface
	set  *v1.StatefulSet

	deleted, incomplete, older, absent atomic.Int64
	listed                             sync.WaitGroup // until every watch has had its first events
	ended                              sync.WaitGroup
}

func newWitness(t *testing.T, s *servertest.Server, set *v1.StatefulSet) *witness {
	t.Helper()
	config := rest.CopyConfig(s.Loopback)
	config.QPS = -1
	sets, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return &witness{sets: sets, set: set}
}

// follow opens a watch, and reads it to its end.
func (w *witness) follow(ctx context.Context, options metav1.ListOptions) error {
	watcher, err := w.sets.AppsV1().StatefulSets(servertest.Namespace).Watch(ctx, options)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	first, seen := true, false
	for event := range watcher.ResultChan() {
		set, ok := event.Object.(*v1.StatefulSet)
		switch {
		case !ok:
			return apierrors.FromObject(event.Object)
		case event.Type == watch.Deleted && set.Name == w.set.Name:
			w.deleted.Add(1)
		case event.Type == watch.Bookmark:
			if set.Annotations[metav1.InitialEventsAnnotationKey] == "true" && !seen {
				w.incomplete.Add(1)
			}
		case set.Name == w.set.Name && set.UID != w.set.UID:
			w.older.Add(1)
		case set.Name == w.set.Name:
			seen = true
		}
		if first && ctx.Value(firstKey{}) != nil {
			w.listed.Done()
		}
		first = false
	}
	return nil
}

type firstKey struct{}

// open opens many watches, and returns when each has got something.
func (w *witness) open(ctx context.Context, t *testing.T) {
	t.Helper()
	ctx = context.WithValue(ctx, firstKey{}, true)
	for i := range openWatches + openWatchLists {
		options := metav1.ListOptions{ResourceVersion: "0"}
		if i >= openWatches {
			options = watchList()
		}
		w.listed.Add(1)
		w.ended.Go(func() {
			if err := w.follow(ctx, options); err != nil && ctx.Err() == nil {
				t.Logf("watch: %v", err)
			}
		})
	}
	w.listed.Wait()
}

func watchList() metav1.ListOptions {
	return metav1.ListOptions{
		SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
}

// ask reads until the server refuses.
func (w *witness) ask(ctx context.Context, s *servertest.Server, t *testing.T) {
	t.Helper()
	s.Eventually(t, "the server refuses", func(context.Context) error {
		var anew sync.WaitGroup
		for range 5 {
			anew.Go(func() {
				short, cancel := context.WithTimeout(ctx, servertest.Patience)
				defer cancel()
				_ = w.follow(short, watchList())
			})
		}
		sets := w.sets.AppsV1().StatefulSets(servertest.Namespace)
		got, err := sets.Get(ctx, w.set.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			w.absent.Add(1)
		case err == nil && got.UID != w.set.UID:
			w.older.Add(1)
		}
		list, listErr := sets.List(ctx, metav1.ListOptions{})
		if listErr == nil {
			w.count(list)
		}
		if !apierrors.IsServiceUnavailable(err) || !apierrors.IsServiceUnavailable(listErr) {
			return fmt.Errorf("get: got %w, list: got %w, want 503", err, listErr)
		}
		anew.Wait()
		return nil
	})
}

func (w *witness) count(list *v1.StatefulSetList) {
	found := false
	for i := range list.Items {
		if list.Items[i].Name == w.set.Name {
			found = true
			if list.Items[i].UID != w.set.UID {
				w.older.Add(1)
			}
		}
	}
	if !found {
		w.incomplete.Add(1)
	}
}

// storedWeb makes a set, and one of the same name after it. It returns the second,
// and what etcd held of the first.
func storedWeb(t *testing.T, s *servertest.Server, g *guard.Guard) (set *v1.StatefulSet, key string, older []byte) {
	t.Helper()
	s.Create(t, servertest.Web("web"))
	key = backend.Prefix + "/apps.statefulset.dev/statefulsets/" + servertest.Namespace + "/web"
	found, err := guard.StoreOf(g).Client.Get(t.Context(), key)
	if err != nil || len(found.Kvs) != 1 {
		all, _ := guard.StoreOf(g).Client.Get(t.Context(), backend.Prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		t.Fatalf("reading key %q: got %v, %v, want one; there are %v", key, found, err, all)
	}
	if err := s.Sets().Delete(t.Context(), "web",
		metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatalf("deleting: %v", err)
	}
	return s.Create(t, servertest.Web("web")), key, found.Kvs[0].Value
}

// What a store says that was put in the place of the right one reaches nobody.
func TestNothingFromAStoreThatWasExchangedReachesAWatch(t *testing.T) {
	otherRecord := func(seen guard.Observation, change func(*guard.Record)) string {
		changed := guard.RecordOf(seen)
		change(&changed)
		content, _ := json.Marshal(changed)
		return string(content)
	}
	for name, exchange := range map[string]func(seen guard.Observation, recordKey, key string, older []byte) []clientv3.Op{
		"for one without the set": func(seen guard.Observation, recordKey, key string, _ []byte) []clientv3.Op {
			return []clientv3.Op{clientv3.OpDelete(key),
				clientv3.OpPut(recordKey, otherRecord(seen, func(r *guard.Record) { r.Store, r.Mark, r.Before = "other", "m", "" }))}
		},
		"for one with another set of the name": func(seen guard.Observation, recordKey, key string, older []byte) []clientv3.Op {
			return []clientv3.Op{clientv3.OpPut(key, string(older)),
				clientv3.OpPut(recordKey, otherRecord(seen, func(r *guard.Record) { r.Mark, r.Before, r.History = "older", "oldest", "older" }))}
		},
		"for an empty one": func(_ guard.Observation, recordKey, key string, _ []byte) []clientv3.Op {
			return []clientv3.Op{clientv3.OpDelete(key), clientv3.OpDelete(recordKey)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := newGuardedHost(t, servertest.Owning("web"))
			host.objects = newGuardedHost(t).objects // at first nothing depends on the store
			var g *guard.Guard
			choose, configure := host.guarded(t, nil)
			s := servertest.StartWith(t, choose, configure, func(c *apiserver.Config) { g = c.Guard })
			set, key, older := storedWeb(t, s, g)
			s.Eventually(t, "the cache has the set", func(ctx context.Context) error {
				seen, err := s.Sets().Get(ctx, "web", metav1.GetOptions{ResourceVersion: "0"})
				if err == nil && seen.UID != set.UID {
					return fmt.Errorf("UID: got %s, want %s", seen.UID, set.UID)
				}
				return err
			})
			w := newWitness(t, s, set)
			ctx, stop := context.WithTimeout(t.Context(), servertest.Patience)
			defer stop()
			w.open(ctx, t)
			seen, err := guard.StoreOf(g).Read(ctx)
			if err != nil {
				t.Fatalf("reading the record: %v", err)
			}
			if _, err := guard.StoreOf(g).Client.Txn(ctx).Then(exchange(seen, guard.StoreOf(g).Key, key, older)...).Commit(); err != nil {
				t.Fatalf("exchanging: %v", err)
			}
			w.ask(ctx, s, t)
			w.ended.Wait()
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("the watches: still open after %s, want them closed", servertest.Patience)
			}
			for what, n := range map[string]*atomic.Int64{
				"DELETED events": &w.deleted, "complete lists without the set": &w.incomplete,
				"answers with another UID": &w.older, "answers that the set is not there": &w.absent,
			} {
				if got := n.Load(); got != 0 {
					t.Errorf("%s: got %d, want 0", what, got)
				}
			}
		})
	}
}

// What is true passes, deletions included.
func TestAWatchSeesWhatHappensInTheRightStore(t *testing.T) {
	choose, configure := newGuardedHost(t).guarded(t, nil)
	s := servertest.StartWith(t, choose, configure)
	watcher, err := s.Sets().Watch(t.Context(), watchList())
	if err != nil {
		t.Fatalf("watching: %v", err)
	}
	defer watcher.Stop()
	for round := range 20 {
		set := s.Create(t, servertest.Web("web"))
		for i := range 5 {
			set.Spec.Replicas = new(int32(i))
			if set, err = s.Sets().Update(t.Context(), set, metav1.UpdateOptions{}); err != nil {
				t.Fatalf("updating: %v", err)
			}
		}
		if err := s.Sets().Delete(t.Context(), "web",
			metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
			t.Fatalf("deleting: %v", err)
		}
		for {
			event, open := <-watcher.ResultChan()
			if !open || event.Type == watch.Error {
				t.Fatalf("round %d: got %+v, open is %t; want every event", round, event, open)
			}
			if seen, ok := event.Object.(*v1.StatefulSet); ok && event.Type == watch.Deleted && seen.UID == set.UID {
				break
			}
		}
	}
}
