//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/row"
)

const keys = "/registry/statefulset.dev/apps.statefulset.dev/statefulsets/"

// damages are ways in which a stored value can become unreadable, by the name of the set
// that suffers it.
func damages() map[string]func(stored string) string {
	return map[string]func(string) string{
		"zero":        func(string) string { return "\x00" },
		"garbage":     func(string) string { return "\xde\xad\xbe\xef" },
		"ones":        func(stored string) string { return strings.Repeat("\xff", len(stored)) },
		"cut":         func(stored string) string { return stored[:len(stored)*2/3] },
		"stump":       func(stored string) string { return stored[:20] },
		"head":        func(stored string) string { return stored[:4] },
		"shifted":     func(stored string) string { return stored[:4] + "\n" + stored[4:] },
		"scale":       func(string) string { return `{"apiVersion":"autoscaling/v1","kind":"Scale"}` },
		"alien":       func(string) string { return `{"apiVersion":"example.com/v1","kind":"Thing"}` },
		"newer":       func(stored string) string { return strings.Replace(stored, "dev/v1", "dev/v9", 1) },
		"swapped":     func(stored string) string { return strings.ReplaceAll(stored, "swapped", "another") },
		"undecrypted": func(string) string { return "k8s:enc:aesgcm:v1:key1:0123456789abcdef0123456789abcdef" },
	}
}

// TestADamagedStoredSetStopsNoOther damages sets under a running server, then starts the
// garbage collector and the server anew, and then repairs the sets.
func TestADamagedStoredSetStopsNoOther(t *testing.T) {
	w := newWorld(t, nil)
	before, violations := w.settle(), 0
	w.damageAll()
	w.scaleGood(2)
	violations += w.violations("while the server ran", before)

	w.server.Stop(t, time.Minute)
	w.controllers.Stop(t, time.Minute)
	w.controllers = w.Start(t, w.controllers.Program)
	w.start()
	w.scaleGood(3)
	w.awaitGarbageCollector()
	violations += w.violations("after a start of the garbage collector and the server", before)
	if count, err := w.metric(t.Context(), "statefulset_apiserver_damaged_sets"); err != nil || count != len(damages()) {
		t.Errorf("metric of damaged sets: got %d, %v, want %d", count, err, len(damages()))
	}

	w.repairAll()
	w.awaitGarbageCollector()
	for name := range damages() {
		w.awaitReady(name, 1)
		if now, was := w.pods()[name+"-0"], before[name+"-0"]; now.UID != was.UID {
			violations++
			t.Errorf("pod of the repaired set %s: got UID %q, want %q, untouched", name, now.UID, was.UID)
		}
	}
	row.Report(t, row.Row{Fault: "corrupt stored object", Side: "ours", Where: "real", Runs: 2 * len(damages()), Violations: violations,
		Detail: "found running and at start; pods live, others scale, repaired in place"})
}

// settle makes the sets, and returns their pods.
func (w *world) settle() map[string]corev1.Pod {
	w.t.Helper()
	w.create("good", 1)
	for name := range damages() {
		w.create(name, 1)
	}
	w.awaitReady("good", 1)
	for name := range damages() {
		w.awaitReady(name, 1)
	}
	return w.pods()
}

// damageAll writes to etcd past the server.
func (w *world) damageAll() {
	w.t.Helper()
	etcd := w.etcd()
	defer etcd.Close()
	for name, damage := range damages() {
		key := keys + w.namespace + "/" + name
		read, err := etcd.Get(w.t.Context(), key)
		if err != nil || len(read.Kvs) != 1 {
			w.t.Fatalf("reading %s: got %v, %v, want one value", key, read, err)
		}
		if _, err := etcd.Put(w.t.Context(), key, damage(string(read.Kvs[0].Value))); err != nil {
			w.t.Fatalf("damaging %s: %v", key, err)
		}
	}
}

// etcd is a client of the server's own etcd.
func (w *world) etcd() *clientv3.Client {
	w.t.Helper()
	sockets, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "statefulset-etcd-*", "etcd.sock"))
	if err != nil || len(sockets) != 1 {
		w.t.Fatalf("sockets of the embedded etcd: got %q, %v, want one", sockets, err)
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + sockets[0]}})
	if err != nil {
		w.t.Fatalf("connecting to etcd: %v", err)
	}
	return etcd
}

// violations counts the damaged sets that are not left alone.
func (w *world) violations(when string, before map[string]corev1.Pod) (count int) {
	w.t.Helper()
	report := func(format string, args ...any) {
		count++
		w.t.Errorf(when+": "+format, args...)
	}
	list, err := w.Sets.AppsV1().StatefulSets(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatalf("%s: listing sets: %v", when, err)
	}
	listed := map[string]v1.StatefulSet{}
	for _, set := range list.Items {
		listed[set.Name] = set
	}
	pods := w.pods()
	for name := range damages() {
		was, now := before[name+"-0"], pods[name+"-0"]
		if now.UID != was.UID || now.DeletionTimestamp != nil {
			report("pod of %s: got UID %q, deleted %v, want %q, not deleted", name, now.UID, now.DeletionTimestamp, was.UID)
		}
		owner := metav1.GetControllerOf(&was)
		if set := listed[name]; owner == nil || set.UID != owner.UID || !v1.IsDamaged(&set) {
			report("%s in the list: got UID %q, damaged %t, want that of %v, true", name, set.UID, v1.IsDamaged(&set), owner)
		}
		if _, err := w.Sets.AppsV1().StatefulSets(w.namespace).Get(w.t.Context(), name, metav1.GetOptions{}); !apierrors.IsInternalError(err) &&
			apierrors.ReasonForError(err) != metav1.StatusReasonStoreReadError {
			report("get of %s: got %v, want an error of the store", name, err)
		}
	}
	for name := range pods {
		if _, ok := before[name]; !ok && !strings.HasPrefix(name, "good-") {
			report("pods: got %s, which was not there before", name)
		}
	}
	return count
}

// awaitGarbageCollector returns when the garbage collector has deleted a pod whose owner
// of our kind never existed: it works, and it asks our server.
func (w *world) awaitGarbageCollector() {
	w.t.Helper()
	canary := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "good-canary-", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind, Name: "absent", UID: "00000000-0000-0000-0000-000000000000",
		}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1"}}},
	}
	made, err := w.Host.CoreV1().Pods(w.namespace).Create(w.t.Context(), canary, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatalf("creating a pod without an owner: %v", err)
	}
	w.eventually("the garbage collector deletes a pod whose owner does not exist", func(ctx context.Context) error {
		_, err := w.Host.CoreV1().Pods(w.namespace).Get(ctx, made.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("got %v, want that it is not found", err) //nolint:errorlint // it may be nil
	})
}

// repairAll does what docs/repair.md says.
func (w *world) repairAll() {
	w.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(damages())) {
		options := metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}
		if err := w.Sets.AppsV1().StatefulSets(w.namespace).Delete(w.t.Context(), name, options); err != nil {
			w.t.Fatalf("deleting the damaged set %s: %v", name, err)
		}
		w.create(name, 1)
	}
}
