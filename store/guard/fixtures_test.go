// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/dependents"
	"statefulset.dev/store/guard"
)

const anchorNamespace = "statefulset-system"

// guardedHost is a host cluster in memory: the objects that sets own, and the anchor.
type guardedHost struct {
	client  *fake.Clientset
	objects *metadatafake.FakeMetadataClient
	ended   atomic.Pointer[error] // why the guard ended the process
	tune    func(*guard.Guard)    // changes the guard before it runs; may be nil
}

func newGuardedHost(t testing.TB, owners ...*v1.StatefulSet) *guardedHost {
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
				Name: set.Name + "-0", Namespace: set.Namespace, Labels: map[string]string{appsv1.StatefulSetPodNameLabel: set.Name + "-0"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, v1.GroupVersionKind())},
			},
		})
	}
	return &guardedHost{client: fake.NewClientset(), objects: metadatafake.NewSimpleMetadataClient(scheme, objects...)}
}

func (h *guardedHost) notes() guard.Anchors {
	return guard.NewAnchors(h.client.CoreV1().ConfigMaps(anchorNamespace))
}

// guarded makes a server that looks at its store before it serves.
func (h *guardedHost) guarded(t testing.TB, prepare func(*guard.Store)) (func(*apiserver.Options), func(*apiserver.Config)) {
	t.Helper()
	var options *apiserver.Options
	return func(o *apiserver.Options) { options = o }, func(config *apiserver.Config) {
		etcd, err := options.Storage.Client()
		if err != nil {
			t.Fatalf("opening the store: %v", err)
		}
		if prepare != nil {
			prepare(guard.NewStore(etcd, backend.Prefix))
		}
		g := guard.New(guard.Config{
			Etcd: etcd, Prefix: backend.Prefix, Notes: h.client.CoreV1().ConfigMaps(anchorNamespace), Host: h.objects,
			Stored: func(ctx context.Context) (map[dependents.SetID]bool, error) {
				return config.StoredSets(ctx, options.Storage)
			},
			Advice: guard.Advice{Namespace: anchorNamespace, DataDir: "/data", Kubeconfig: "/kube"}, End: func(err error) { h.ended.Store(&err) },
		})
		config.GuardWith(g)
		if h.tune != nil {
			h.tune(g)
		}
		stop := g.Start(context.Background())
		t.Cleanup(func() {
			stop()
			if err := etcd.Close(); err != nil {
				t.Errorf("closing the store: %v", err)
			}
		})
	}
}

// knowing writes the anchor of a cluster that knows a store.
func (h *guardedHost) knowing(t *testing.T, known guard.Observation) {
	t.Helper()
	if err := h.notes().Write(t.Context(), guard.Anchor{}, known); err != nil {
		t.Fatalf("writing the note: %v", err)
	}
}

func (h *guardedHost) annotate(t *testing.T, accepted string) {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, guard.AcceptAnnotation, accepted)
	if _, err := h.client.CoreV1().ConfigMaps(anchorNamespace).Patch(t.Context(), guard.NoteName, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("accepting: %v", err)
	}
}

// noted reports whether the anchor names a store and carries no decision any more.
func (h *guardedHost) noted(ctx context.Context) error {
	noted, err := h.notes().Read(ctx)
	if err == nil && (noted.IsBlank() || noted.Mark == "" || noted.Accepted != "") {
		return fmt.Errorf("note: got %+v, want a store and a mark, and no annotation", noted)
	}
	return err
}

// refusalOf waits until the server says why it serves nothing, and makes sure that it
// says so everywhere, and lives.
func refusalOf(t *testing.T, s *servertest.Server) string {
	t.Helper()
	var text string
	s.Eventually(t, "the store was judged", func(ctx context.Context) error {
		_, err := s.Sets().List(ctx, metav1.ListOptions{})
		if !apierrors.IsServiceUnavailable(err) || strings.Contains(err.Error(), guard.ErrNotCompared.Error()) {
			return fmt.Errorf("list: got %w, want the refusal", err)
		}
		text = err.Error()
		return nil
	})
	rest := s.Clients.Discovery().RESTClient()
	for _, path := range []string{"/apis", "/apis/apps.statefulset.dev", "/apis/apps.statefulset.dev/v1",
		"/apis/apps.statefulset.dev/v1/namespaces/default/statefulsets/none"} {
		if err := rest.Get().AbsPath(path).Do(t.Context()).Error(); !apierrors.IsServiceUnavailable(err) {
			t.Errorf("GET %s: got %v, want 503", path, err)
		}
	}
	if _, err := s.Sets().Create(t.Context(), servertest.Web("web"), metav1.CreateOptions{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("create: got %v, want 503", err)
	}
	raw, err := rest.Get().AbsPath("/readyz/store").Do(t.Context()).Raw()
	if err == nil || !strings.Contains(string(raw), text) {
		t.Errorf("/readyz/store: got %q, %v, want an error with the refusal", raw, err)
	}
	s.Eventually(t, "the server lives, for a restart helps nobody", func(ctx context.Context) error {
		return rest.Get().AbsPath("/livez").Do(ctx).Error()
	})
	return text
}
