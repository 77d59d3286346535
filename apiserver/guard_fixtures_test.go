// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	hostappsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"

	appsv1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/dependents"
	"statefulset.dev/apiserver/storage"
)

const noteNamespace = "statefulset-system"

// guardedHost is a host cluster in memory: the objects that sets own, and the note.
type guardedHost struct {
	client  *fake.Clientset
	objects *metadatafake.FakeMetadataClient
	ended   atomic.Pointer[error] // why the guard ended the process
	tune    func(*guard)          // changes the guard before it runs; may be nil
}

func newGuardedHost(t testing.TB, owners ...*appsv1.StatefulSet) *guardedHost {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatalf("preparing the host: %v", err)
	}
	var objects []runtime.Object
	for _, set := range owners {
		objects = append(objects, &metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{
				Name: set.Name + "-0", Namespace: set.Namespace, Labels: map[string]string{hostappsv1.StatefulSetPodNameLabel: set.Name + "-0"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.GroupVersionKind())},
			},
		})
	}
	return &guardedHost{client: fake.NewClientset(), objects: metadatafake.NewSimpleMetadataClient(scheme, objects...)}
}

func (h *guardedHost) notes() Anchors {
	return NewAnchors(h.client.CoreV1().ConfigMaps(noteNamespace))
}

// guarded makes a server that looks at its store before it serves.
func (h *guardedHost) guarded(t testing.TB, prepare func(*Store)) (func(*Options), func(*Config)) {
	t.Helper()
	var options *Options
	return func(o *Options) { options = o }, func(config *Config) {
		etcd, err := options.Storage.Client()
		if err != nil {
			t.Fatalf("opening the store: %v", err)
		}
		if prepare != nil {
			prepare(NewStore(etcd, storage.Prefix))
		}
		guard := newGuard(guardConfig{
			Etcd: etcd, Prefix: storage.Prefix, Anchors: h.client.CoreV1().ConfigMaps(noteNamespace), Host: h.objects,
			Stored: func(ctx context.Context) (map[dependents.SetID]bool, error) { return config.uids(ctx, options.Storage) },
			Advice: advice{Namespace: noteNamespace, DataDir: "/data", Kubeconfig: "/kube"}, End: func(err error) { h.ended.Store(&err) },
		})
		config.guardWith(guard)
		if h.tune != nil {
			h.tune(guard)
		}
		stop := guard.start(context.Background())
		t.Cleanup(func() {
			stop()
			if err := etcd.Close(); err != nil {
				t.Errorf("closing the store: %v", err)
			}
		})
	}
}

// knowing writes the note of a cluster that knows a store.
func (h *guardedHost) knowing(t *testing.T, known Observation) {
	t.Helper()
	if err := h.notes().write(t.Context(), Anchor{}, known); err != nil {
		t.Fatalf("writing the note: %v", err)
	}
}

func (h *guardedHost) annotate(t *testing.T, accepted string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, AcceptAnnotation, accepted)
	if _, err := h.client.CoreV1().ConfigMaps(noteNamespace).Patch(t.Context(), noteName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatalf("accepting: %v", err)
	}
}

// noted reports whether the note names a store and carries no decision any more.
func (h *guardedHost) noted(ctx context.Context) error {
	noted, err := h.notes().read(ctx)
	if err == nil && (noted.blank() || noted.mark == "" || noted.accepted != "") {
		return fmt.Errorf("note: got %+v, want a store and a mark, and no annotation", noted)
	}
	return err
}

// refusalOf waits until the server says why it serves nothing, and makes sure that it
// says so everywhere, and lives.
func refusalOf(t *testing.T, s *testServer) string {
	t.Helper()
	var text string
	s.eventually(t, "the store was judged", func(ctx context.Context) error {
		_, err := s.sets().List(ctx, metav1.ListOptions{})
		if !apierrors.IsServiceUnavailable(err) || strings.Contains(err.Error(), ErrNotCompared.Error()) {
			return fmt.Errorf("list: got %w, want the refusal", err)
		}
		text = err.Error()
		return nil
	})
	rest := s.clients.Discovery().RESTClient()
	for _, path := range []string{"/apis", "/apis/apps.statefulset.dev", "/apis/apps.statefulset.dev/v1", "/apis/apps.statefulset.dev/v1/namespaces/default/statefulsets/none"} {
		if err := rest.Get().AbsPath(path).Do(t.Context()).Error(); !apierrors.IsServiceUnavailable(err) {
			t.Errorf("GET %s: got %v, want 503", path, err)
		}
	}
	if _, err := s.sets().Create(t.Context(), web("web"), metav1.CreateOptions{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("create: got %v, want 503", err)
	}
	raw, err := rest.Get().AbsPath("/readyz/store").Do(t.Context()).Raw()
	if err == nil || !strings.Contains(string(raw), text) {
		t.Errorf("/readyz/store: got %q, %v, want an error with the refusal", raw, err)
	}
	if err := rest.Get().AbsPath("/livez").Do(t.Context()).Error(); err != nil {
		t.Errorf("/livez: got %v, want no error: a restart helps nobody", err)
	}
	return text
}
