//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	m := w.settle(t, w.namespace(t), "db", 2)

	right.Stop(t, grace)
	other := etcd
	other.Name, other.Args = "other-etcd", etcd.Args.With("data-dir", filepath.Join(t.TempDir(), "other"))
	wrong := w.Start(t, other.Program)
	m.mustStay(t, "with an empty etcd in the place of the right one", shortly)
	w.mustRefuse(t, "Put the right store back", "1 set of them is not in this store")

	wrong.Stop(t, grace)
	w.Start(t, etcd.Program)
	// What the server has cached may come from the wrong store.
	select {
	case <-w.server.Exited():
	case <-time.After(patience):
		t.Fatalf("the server still runs %s after the right store came back", patience)
	}
	content, err := os.ReadFile(w.LogOf(w.program.Name))
	if last := lastLine(string(content)); err != nil || !strings.Contains(last, "restarting") {
		t.Errorf("last words: got %q, %v, want that it restarts", last, err)
	}
	w.onEtcd(t, etcd.URL)
	m.mustStay(t, "with the right etcd back", shortly)
	w.stop(t)
}

// anExternalStoreHasNoSpace writes until etcd raises its alarm.
func anExternalStoreHasNoSpace(t *testing.T, w *world, _ string) {
	w.stop(t)
	etcd := w.EtcdMembers(t, 1)[0]
	etcd.Args = etcd.Args.With("quota-backend-bytes", fmt.Sprint(8<<20))
	w.Start(t, etcd.Program)
	w.onEtcd(t, etcd.URL)
	m := w.settle(t, w.namespace(t), "db", 2)
	full := false
	for i := 0; i < 200 && !full; i++ {
		set := newSet(fmt.Sprintf("more-%d", i), 0)
		set.Annotations = map[string]string{"test/size": strings.Repeat("x", 200<<10)}
		_, err := w.direct.AppsV1().StatefulSets(m.namespace).Create(t.Context(), set, metav1.CreateOptions{})
		full = err != nil && strings.Contains(err.Error(), "space exceeded")
	}
	if !full {
		t.Error("etcd has not raised its alarm within 200 writes")
	}
	m.mustStay(t, "with etcd's alarm raised", shortly)
	if _, err := w.direct.AppsV1().StatefulSets(m.namespace).Get(context.WithoutCancel(t.Context()), m.set.Name, metav1.GetOptions{}); err != nil {
		t.Errorf("reading while etcd takes no writes: got %v, want no error", err)
	}
	w.stop(t)
}
