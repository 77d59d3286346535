//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// onEtcd starts the server on an external etcd, and accepts it.
func (w *world) onEtcd(t *testing.T, url string) {
	t.Helper()
	w.launchWith(t, w.program.Args.Without("data-dir").With("etcd-servers", url))
	w.acceptIfRefused(t)
	w.awaitServed(t)
}

// anExternalStoreIsExchanged puts an empty etcd at the address of the right one,
// under a running server.
func anExternalStoreIsExchanged(t *testing.T, w *world, _ string) {
	w.stop(t)
	etcd := w.EtcdMembers(t, 1)[0]
	right := w.Start(t, etcd.Program)
	w.onEtcd(t, etcd.URL)
	m := w.settle(t, w.Namespace(t, "guard"), "db", 2)

	right.Stop(t, grace)
	other := etcd
	other.Name, other.Args = "other-etcd", etcd.Args.With("data-dir", filepath.Join(t.TempDir(), "other"))
	wrong := w.Start(t, other.Program)
	m.mustStay(t, "with an empty etcd in the place of the right one", shortly)
	w.mustRefuse(t, "Use the right store again", "1 set of them is not in this store")

	wrong.Stop(t, grace)
	w.Start(t, etcd.Program)
	// What the server has cached may come from the wrong store.
	select {
	case <-w.server.Exited():
	case <-time.After(harness.Patience):
		t.Fatalf("the server still runs %s after the right store came back", harness.Patience)
	}
	content, err := os.ReadFile(w.LogOf(w.program.Name))
	if last := lastLine(string(content)); err != nil || !strings.Contains(last, "restarting") {
		t.Errorf("last words: got %q, %v, want that it restarts", last, err)
	}
	w.onEtcd(t, etcd.URL)
	m.mustStay(t, "with the right etcd back", shortly)
	w.stop(t)
}

// anExternalStoreHasNoSpace lets others fill etcd until it raises its alarm: the server
// itself would stop before.
func anExternalStoreHasNoSpace(t *testing.T, w *world, _ string) {
	w.stop(t)
	etcd := w.EtcdMembers(t, 1)[0]
	etcd.Args = etcd.Args.With("quota-backend-bytes", fmt.Sprint(8<<20))
	w.Start(t, etcd.Program)
	w.onEtcd(t, etcd.URL)
	m := w.settle(t, w.Namespace(t, "guard"), "db", 2)
	fillEtcd(t, etcd.URL)
	if _, err := w.direct.AppsV1().StatefulSets(m.Namespace).Create(t.Context(), harness.NewSet("more", 0),
		metav1.CreateOptions{}); err == nil {
		t.Error("creating a set while etcd takes no writes: got no error, want one")
	}
	m.mustStay(t, "with etcd's alarm raised", shortly)
	if _, err := w.direct.AppsV1().StatefulSets(m.Namespace).Get(context.WithoutCancel(t.Context()), m.Set.Name,
		metav1.GetOptions{}); err != nil {
		t.Errorf("reading while etcd takes no writes: got %v, want no error", err)
	}
	w.stop(t)
}

// fillEtcd writes to etcd until it takes no more.
func fillEtcd(t *testing.T, url string) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	defer func() { _ = client.Close() }()
	for i := range 200 {
		_, err := client.Put(t.Context(), fmt.Sprintf("/somebody-else/%d", i), strings.Repeat("x", 200<<10))
		switch {
		case errors.Is(err, rpctypes.ErrNoSpace):
			return
		case err != nil:
			t.Fatalf("filling etcd: %v", err)
		}
	}
	t.Fatal("etcd has not raised its alarm within 200 writes")
}
