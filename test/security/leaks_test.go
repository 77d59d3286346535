//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/harness"
)

// collector takes what the server traces.
type collector struct {
	tracev1.UnimplementedTraceServiceServer

	address string

	mu   sync.Mutex
	text bytes.Buffer
}

func newCollector(t testing.TB) *collector {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening for traces: %v", err)
	}
	c := &collector{address: listener.Addr().String()}
	server := grpc.NewServer()
	tracev1.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c
}

// Export keeps all strings of the spans.
func (c *collector) Export(_ context.Context, request *tracev1.ExportTraceServiceRequest) (*tracev1.ExportTraceServiceResponse, error) {
	raw, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(raw)
	return &tracev1.ExportTraceServiceResponse{}, nil
}

func (c *collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// TestValuesOfASetAreNotTold puts a word into the places of a set where secrets are, lets
// it work, fail and be refused, and looks for the word wherever operators look.
func TestValuesOfASetAreNotTold(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a9c1e5d"
	w := shared(t)
	ns, strict := w.Namespace(t, "security"),
		w.LabeledNamespace(t, "security", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	secret := func(name string, replicas int32) {
		t.Helper()
		for _, at := range []string{ns, strict} {
			set := harness.NewSet(name, replicas)
			set.Annotations = map[string]string{"test/secret": canary}
			container := &set.Spec.Template.Spec.Containers[0]
			container.Env = []corev1.EnvVar{{Name: "PASSWORD", Value: canary}}
			container.Command, container.Args = []string{"run", "--password=" + canary}, []string{canary}
			w.create(t, at, set)
		}
	}
	secret("kept", 1)
	w.awaitReady(t, ns, "kept", 1)
	sets := w.Sets.AppsV1().StatefulSets(ns)
	for _, patch := range []string{
		`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/main:1","env":[{"name":"PASSWORD","value":"` + canary +
			`-2"}]}]}}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/main:1","env":[{"name":"","value":"` + canary +
			`"}]}]}}}}`,
		`{"spec":{"serviceName":"other"},"metadata":{"annotations":{"x":"` + canary + `"}}}`,
	} {
		_, _ = sets.Patch(t.Context(), "kept", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	w.awaitReady(t, ns, "kept", 1)
	harness.Eventually(t, "the refused pod has an event", func(ctx context.Context) error {
		list, err := w.Host.CoreV1().Events(strict).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) == 0 {
			err = fmt.Errorf("got none")
		}
		return err
	})
	harness.Eventually(t, "the traces of the namespace have arrived", func(context.Context) error {
		if !strings.Contains(w.traces.String(), ns) {
			return fmt.Errorf("got %d bytes without it", len(w.traces.String()))
		}
		return nil
	})

	places := map[string]string{
		"traces": w.traces.String(), "our audit log": read(t, w.ownAudit()), "the host's audit log": read(t, w.hostAudit())}
	logs, err := filepath.Glob(w.Path("logs", "*.log"))
	if err != nil || len(logs) < 3 {
		t.Fatalf("logs: got %q, %v, want at least 3", logs, err)
	}
	for _, path := range logs {
		if name := filepath.Base(path); name != "audit.log" { // that of the cluster's start, which may have contents
			places["log "+name] = read(t, path)
		}
	}
	admin := w.admin(t)
	for _, path := range []string{"/metrics", "/readyz?verbose", "/debug/damaged",
		"/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1", "/statusz", "/flagz"} {
		places[path] = ask(t, admin, request{url: w.server() + path}).body
	}
	for _, at := range []string{ns, strict} {
		list, err := w.Host.CoreV1().Events(at).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatalf("listing events: %v", err)
		}
		places["events of "+at] = fmt.Sprint(list.Items)
		set, err := w.Sets.AppsV1().StatefulSets(at).Get(t.Context(), "kept", metav1.GetOptions{})
		if err != nil {
			t.Fatalf("getting the set: %v", err)
		}
		places["status of "+at] = fmt.Sprint(set.Status)
	}
	size := 0
	for place, text := range places {
		size += len(text)
		if found := strings.Index(text, canary); found >= 0 {
			t.Errorf("%s: got the secret at %q, want it nowhere", place, text[max(0, found-200):min(len(text), found+40)])
		}
	}
	t.Logf("%d KiB in %d places, 0 of them with the secret", size>>10, len(places))
}

// TestProfilesNeedARight asks for what tells about the memory of the server.
func TestProfilesNeedARight(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	w.bind(t, ns, "cluster-admin", "namespaced")
	for name, c := range map[string]struct {
		client *http.Client
		code   int
	}{
		"nobody":                          {w.direct(t), http.StatusUnauthorized},
		"an administrator of a namespace": {w.direct(t, w.known(t, "namespaced")), http.StatusForbidden},
		"an administrator of the cluster": {w.admin(t), http.StatusOK},
	} {
		for _, path := range []string{"/debug/pprof/heap", "/debug/pprof/goroutine?debug=2", "/metrics", "/debug/damaged"} {
			if got := ask(t, c.client, request{url: w.server() + path}); got.code != c.code {
				t.Errorf("%s, %s: got %d, %.200s, want %d", name, path, got.code, got.body, c.code)
			}
		}
	}
	if info, err := os.Stat(w.ownAudit()); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("our audit log: got %v, %v, want that only its owner reads it", info, err)
	}
}
