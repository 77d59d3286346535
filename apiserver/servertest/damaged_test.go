// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/embedded"
	"statefulset.dev/test/harness/etcd"
)

// damagedURL tells which stored sets cannot be read.
const damagedURL = "/debug/damaged"

const setsPrefix = backend.Prefix + "/apps.statefulset.dev/statefulsets/"

// damages are ways in which a stored value can become unreadable.
func damages() map[string]func(stored []byte) []byte {
	return map[string]func([]byte) []byte{
		"a single byte":     func([]byte) []byte { return []byte{0} },
		"garbage":           func([]byte) []byte { return []byte("\xde\xad\xbe\xef garbage") },
		"garbage like ours": func([]byte) []byte { return []byte("\x00damaged\x00\x00\x01/\x00x") },
		"cut off":           func(stored []byte) []byte { return stored[:len(stored)*2/3] },
		"cut off at once":   func(stored []byte) []byte { return stored[:20] },
		"another kind": func([]byte) []byte {
			return []byte(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"bad","namespace":"default"}}`)
		},
		"an unknown kind": func([]byte) []byte {
			return []byte(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"bad"}}`)
		},
		"a newer version": func(stored []byte) []byte { return slices.Concat(stored[:4], replaced(stored[4:], "dev/v1", "dev/v9")) },
		"another set":     func(stored []byte) []byte { return replaced(stored, "bad", "odd") },
		"encrypted":       func([]byte) []byte { return []byte("k8s:enc:aescbc:v1:key1:0123456789abcdef0123456789abcdef") },
		"JSON without an end": func([]byte) []byte {
			return []byte(`{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":`)
		},
	}
}

func replaced(in []byte, old, with string) []byte {
	return []byte(strings.ReplaceAll(string(in), old, with))
}

// knownUIDs is a host that knows what it was told.
type knownUIDs struct {
	uids     map[string]types.UID
	orphaned map[string]bool
}

func (h *knownUIDs) OwnerUID(_ context.Context, namespace, name string) (types.UID, error) {
	return h.uids[namespace+"/"+name], nil
}

func (h *knownUIDs) Orphan(_ context.Context, namespace, name string) error {
	h.orphaned[namespace+"/"+name] = true
	return nil
}

func TestADamagedSetStopsNoOther(t *testing.T) {
	for name, damage := range damages() {
		t.Run(name+", while the server runs", func(t *testing.T) {
			host := &knownUIDs{map[string]types.UID{}, map[string]bool{}}
			s := Start(t, func(c *apiserver.Config) { c.Dependents = host })
			good, bad := s.Create(t, Web("good")), s.Create(t, Web("bad"))
			watcher := s.watchAll(t)
			s.damage(t, "bad", damage)
			if got := s.nextEvent(t, watcher, "bad"); got.Type != watch.Modified || got.Object.(*v1.StatefulSet).UID != bad.UID {
				t.Errorf("event of the damaged set: got %s of UID %s, want %s of %s", got.Type, got.Object.(*v1.StatefulSet).UID, watch.Modified,
					bad.UID)
			}
			s.checkDamaged(t, good, bad)
			good.Spec.Replicas = ptr.To[int32](9)
			if _, err := s.Sets().Update(t.Context(), good, metav1.UpdateOptions{}); err != nil {
				t.Errorf("updating another set: %v", err)
			}
			if got := s.nextEvent(t, watcher, "good"); got.Type != watch.Modified || *got.Object.(*v1.StatefulSet).Spec.Replicas != 9 {
				t.Errorf("event of another set: got %s of %+v, want the update on the same watch", got.Type, got.Object)
			}
			s.checkRepair(t, host, watcher, bad)
		})
	}
}

func TestADamagedSetIsFoundAtStart(t *testing.T) {
	for name, damage := range damages() {
		t.Run(name, func(t *testing.T) {
			etcd := etcd.Start(t)
			var good, bad *v1.StatefulSet
			host := &knownUIDs{map[string]types.UID{}, map[string]bool{}}
			t.Run("before", func(t *testing.T) {
				s := startServerOn(t, etcd, &knownUIDs{})
				good, bad = s.Create(t, Web("good")), s.Create(t, Web("bad"))
				s.damage(t, "bad", damage)
			})
			host.uids["default/bad"] = bad.UID
			s := startServerOn(t, etcd, host)
			s.checkDamaged(t, good, bad)
			s.checkRepair(t, host, s.watchAll(t), bad)
		})
	}
}

// startServerOn starts a server on an etcd that outlives it.
func startServerOn(t *testing.T, etcd *embedded.Etcd, host *knownUIDs) *Server {
	t.Helper()
	config := newConfig(t, etcd, func(*apiserver.Options) {})
	config.Dependents = host
	server, err := config.Complete().New()
	if err != nil {
		t.Fatalf("building the server: %v", err)
	}
	runUntilCleanup(t, server)
	clients, err := versioned.NewForConfig(config.Generic.LoopbackClientConfig)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	s := &Server{config.Generic.LoopbackClientConfig, clients, etcd}
	s.Eventually(t, "the server is ready", func(ctx context.Context) error {
		return clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
	return s
}

// checkDamaged: the damaged set is listed with its UID and is otherwise out of reach.
func (s *Server) checkDamaged(t *testing.T, good, bad *v1.StatefulSet) {
	t.Helper()
	for _, version := range []string{"", "0"} {
		list, err := s.Sets().List(t.Context(), metav1.ListOptions{ResourceVersion: version})
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("list at version %q: got %+v, %v, want two sets", version, list, err)
		}
		stand, other := list.Items[0], list.Items[1]
		if stand.Name != "bad" || stand.UID != bad.UID || !v1.IsDamaged(&stand) {
			t.Errorf("the damaged set in the list: got %s of UID %s, damaged %t, want bad of %s, true", stand.Name, stand.UID, v1.IsDamaged(&stand),
				bad.UID)
		}
		if other.UID != good.UID || v1.IsDamaged(&other) {
			t.Errorf("the other set in the list: got %+v, want it as it is", other)
		}
		_, err = s.Sets().Get(t.Context(), "bad", metav1.GetOptions{ResourceVersion: version})
		wantStoreError(t, "get", err)
	}
	bad = bad.DeepCopy()
	bad.ResourceVersion = ""
	_, err := s.Sets().Update(t.Context(), bad, metav1.UpdateOptions{})
	wantStoreError(t, "update", err)
	_, err = s.Sets().UpdateStatus(t.Context(), bad, metav1.UpdateOptions{})
	wantStoreError(t, "update of the status", err)
	_, err = s.Sets().Patch(t.Context(), "bad", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	wantStoreError(t, "patch", err)
	_, err = s.Sets().GetScale(t.Context(), "bad", metav1.GetOptions{})
	wantStoreError(t, "get of the scale", err)
	wantStoreError(t, "delete", s.Sets().Delete(t.Context(), "bad", metav1.DeleteOptions{}))
	if _, err := s.Sets().Create(t.Context(), Web("bad"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("create under the same name: got %v, want that it exists", err)
	}
	shown, err := s.Clients.Discovery().RESTClient().Get().AbsPath(damagedURL).DoRaw(t.Context())
	if err != nil || !strings.Contains(string(shown), `"name":"bad"`) || strings.Contains(string(shown), `"name":"good"`) {
		t.Errorf("%s: got %s, %v, want the damaged set and no other", damagedURL, shown, err)
	}
}

// checkRepair deletes the damaged value and creates the set again.
func (s *Server) checkRepair(t *testing.T, host *knownUIDs, watcher watch.Interface, bad *v1.StatefulSet) {
	t.Helper()
	unsafe := metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}
	if err := s.Sets().Delete(t.Context(), "good", unsafe); !apierrors.IsConflict(err) {
		t.Errorf("unsafe delete of a good set: got %v, want a conflict", err)
	}
	if len(host.orphaned) > 0 {
		t.Errorf("orphaned before the delete: got %v, want none", host.orphaned)
	}
	if err := s.Sets().Delete(t.Context(), "bad", unsafe); err != nil {
		t.Fatalf("unsafe delete of the damaged set: %v", err)
	}
	if !host.orphaned["default/bad"] || len(host.orphaned) != 1 {
		t.Errorf("orphaned: got %v, want default/bad", host.orphaned)
	}
	for {
		event := s.nextEvent(t, watcher, "bad")
		if event.Type == watch.Deleted {
			if got := event.Object.(*v1.StatefulSet).UID; got != bad.UID {
				t.Errorf("UID of the deleted set in the watch: got %s, want %s", got, bad.UID)
			}
			break
		}
	}
	if _, err := s.Sets().Get(t.Context(), "bad", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get after the delete: got %v, want not found", err)
	}
	s.Create(t, Web("bad"))
	s.Eventually(t, "no set is damaged any more", func(ctx context.Context) error {
		shown, err := s.Clients.Discovery().RESTClient().Get().AbsPath(damagedURL).DoRaw(ctx)
		if err == nil && strings.TrimSpace(string(shown)) != "[]" {
			err = fmt.Errorf("got %s", shown)
		}
		return err
	})
}

func wantStoreError(t *testing.T, what string, err error) {
	t.Helper()
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Code != http.StatusInternalServerError {
		t.Errorf("%s of a damaged set: got %v, want an error with code 500", what, err)
		return
	}
	for _, part := range []string{setsPrefix + "default/bad", "docs/repair.md", "kubectl delete --raw"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s of a damaged set: got %q, want it to contain %q", what, err, part)
		}
	}
}

// damage changes what etcd holds for a set.
func (s *Server) damage(t *testing.T, name string, how func([]byte) []byte) {
	t.Helper()
	value := how(slices.Clone(s.stored(t, setsPrefix+"default/"+name)))
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.etcd.Endpoint()}})
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	defer client.Close()
	if _, err := client.Put(t.Context(), setsPrefix+"default/"+name, string(value)); err != nil {
		t.Fatalf("damaging %s: %v", name, err)
	}
}

func (s *Server) watchAll(t *testing.T) watch.Interface {
	t.Helper()
	watcher, err := s.Sets().Watch(t.Context(), metav1.ListOptions{ResourceVersion: s.version(t)})
	if err != nil {
		t.Fatalf("watching: %v", err)
	}
	t.Cleanup(watcher.Stop)
	return watcher
}

func (s *Server) version(t *testing.T) string {
	t.Helper()
	list, err := s.Sets().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing: %v", err)
	}
	return list.ResourceVersion
}

// nextEvent is the next event of a set.
func (s *Server) nextEvent(t *testing.T, watcher watch.Interface, name string) watch.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	for {
		select {
		case event, ok := <-watcher.ResultChan():
			set, isSet := event.Object.(*v1.StatefulSet)
			if !ok || !isSet {
				t.Fatalf("watch: got %+v, open %t, want an event of a set", event, ok)
			}
			if set.Name == name {
				return event
			}
		case <-ctx.Done():
			t.Fatalf("no event of %s within %s", name, Patience)
		}
	}
}
