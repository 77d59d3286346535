//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// shortly is long enough for the garbage collector to act, which it does within a
// second when it may.
const shortly = 5 * time.Second

func membersSurviveAnEmptyStore(t *testing.T, w *world, data string) {
	m := w.settle(t, w.Namespace(t, "guard"), "db", 3)
	w.stop(t)

	w.launch(t, filepath.Join(t.TempDir(), "empty"))
	w.mustRefuse(t, "3 pods, 3 claims and 2 revisions of 1 set. 1 set of them is not in this store", "with 0 sets")
	w.restartControllers(t)
	m.mustStay(t, "on an empty store", survive(t))
	w.stop(t)

	w.launch(t, data)
	w.awaitServed(t)
	m.AwaitReady(t)
	m.mustStay(t, "on the right store again", shortly)
}

func anEmptyStoreIsAccepted(t *testing.T, w *world, data string) {
	ns := w.Namespace(t, "guard")
	lost := w.settle(t, ns, "lost", 2)
	w.stop(t)

	w.launch(t, filepath.Join(t.TempDir(), "empty"))
	reason := w.mustRefuse(t)
	w.shell(t, acceptCommand(reason))
	w.awaitServed(t)
	// This is what the guard keeps from happening.
	lost.mustGo(t)

	kept := w.settle(t, ns, "kept", 2)
	w.stop(t)
	w.launch(t, data)
	w.mustRefuse(t, "the cluster knows store", "1 set of them is not in this store", "with 1 set;")
	kept.mustStay(t, "on the store that was given up", shortly)
}

func anOlderCopyIsRefused(t *testing.T, w *world, data string) {
	ns := w.Namespace(t, "guard")
	old := w.settle(t, ns, "old", 2)
	w.stop(t)
	older := copyDir(t, data)
	w.launch(t, data)
	w.awaitServed(t)
	young := w.settle(t, ns, "young", 2)
	w.server.Kill(t) // no last mark is set

	w.launch(t, older)
	w.mustRefuse(t, "an older copy of the right store", "of 2 sets. 1 set of them is not in this store")
	young.mustStay(t, "on an older copy", shortly)
	old.mustStay(t, "on an older copy", time.Second)
	w.stop(t)
	w.launch(t, data)
	w.awaitServed(t)
	young.mustStay(t, "on the right store again", time.Second)
}

func aBackupIsRestored(t *testing.T, w *world, data string) {
	ns := w.Namespace(t, "guard")
	old := w.settle(t, ns, "old", 2)
	backup, restored := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored")
	t.Log(w.store(t, "backup", "--data-dir="+data, "--to="+backup))
	young := w.settle(t, ns, "young", 2)
	w.stop(t)

	t.Log(w.store(t, "restore", "--accept-unauthenticated", "--from="+backup, "--data-dir="+restored))
	w.launch(t, restored)
	reason := w.mustRefuse(t, "an older copy of the right store", "1 set of them is not in this store")
	young.mustStay(t, "on a restored store", shortly)
	w.shell(t, acceptCommand(reason))
	w.awaitServed(t)
	young.mustGo(t)
	old.AwaitReady(t)
	old.mustStay(t, "on an accepted backup", shortly)
}

// aCopyOfTheServerIsRestored loses the disk, and has nothing but what the server has copied by itself.
func aCopyOfTheServerIsRestored(t *testing.T, w *world, _ string) {
	ns := w.Namespace(t, "guard")
	w.stop(t)
	copies := t.TempDir()
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("one "+base64.StdEncoding.EncodeToString([]byte(rand.Text()+rand.Text()))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := w.program.Args.With("backup-key-file", keys).With("backup-to", "file://"+copies).With("backup-every", "1m").With("backup-scratch",
		t.TempDir())
	w.launchWith(t, args.With("data-dir", filepath.Join(t.TempDir(), "lost")))
	w.acceptIfRefused(t)
	w.awaitServed(t)
	m := w.settle(t, ns, "db", 2)
	seen := awaitCopy(t, copies, "")
	awaitCopy(t, copies, seen)
	w.server.Kill(t)

	newest, restored := awaitCopy(t, copies, ""), filepath.Join(t.TempDir(), "restored")
	// The server was killed after a copy, perhaps before it had told of that one.
	if told := w.toldCopy(t); told != filepath.Base(newest) && told != filepath.Base(seen) {
		t.Errorf("the cluster knows of the copy %q, want %s or %s", told, filepath.Base(newest), filepath.Base(seen))
	}
	t.Log(w.store(t, "check", "--backup-key-file="+keys, "--from="+newest))
	t.Log(w.store(t, "restore", "--backup-key-file="+keys, "--from="+newest, "--data-dir="+restored))
	w.launch(t, restored)
	w.acceptIfRefused(t)
	w.awaitServed(t)
	m.AwaitReady(t)
	m.mustStay(t, "on a copy that the server has made", shortly)
}

// toldCopy is the newest verified copy by what the server has told the cluster.
func (w *world) toldCopy(t *testing.T) string {
	t.Helper()
	told, err := w.Host.CoreV1().ConfigMaps("statefulset-system").Get(t.Context(), "statefulset-apiserver-backups", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading what the server has told of copies: %v", err)
	}
	return told.Data["name"]
}

// awaitCopy is the newest verified copy, once it is another one than before.
func awaitCopy(t *testing.T, dir, before string) (newest string) {
	t.Helper()
	harness.EventuallyWithin(t, 2*time.Minute, "there is a verified copy", func(context.Context) error {
		found, err := filepath.Glob(filepath.Join(dir, "*.backup"))
		if err != nil {
			return err
		}
		if len(found) == 0 || slices.Max(found) == before {
			return fmt.Errorf("got %v, want another one than %q", found, before)
		}
		newest = slices.Max(found)
		return nil
	})
	return newest
}

func missingSetsAreRebuilt(t *testing.T, w *world, _ string) {
	ns := w.Namespace(t, "guard")
	m := w.settle(t, ns, "db", 3)
	w.stop(t)

	empty := filepath.Join(t.TempDir(), "empty")
	w.launch(t, empty)
	reason := w.mustRefuse(t)
	w.stop(t)
	flags := rebuildFlags(t, reason)
	shown := w.store(t, append([]string{"rebuild", "--dry-run"}, flags...)...)
	if !strings.Contains(shown, "# Rebuilt: "+ns+"/db") || !strings.Contains(shown, string(m.Set.UID)) ||
		!strings.Contains(shown, "# Guessed: selector is app=db") {
		t.Errorf("dry run: got %s, want the set with its UID and what was guessed", shown)
	}
	t.Log(w.store(t, append([]string{"rebuild"}, flags...)...))

	w.launch(t, empty)
	w.awaitServed(t)
	m.mustStay(t, "on a rebuilt store", shortly)
	w.kubectl(t, "annotate", "-n", ns, "statefulsets.apps.statefulset.dev", "db", v1.HoldAnnotation+"-")
	m.AwaitReady(t)
	m.mustStay(t, "on a rebuilt store, not held", shortly)
	m.scale(t, 4)
	m.AwaitReady(t)
	now, err := m.Present(t.Context())
	if err != nil || len(now) != len(m.UIDs)+2 {
		t.Errorf("members after scaling to 4: got %v, %v, want a pod and a claim more than %v: the rebuilt set describes no objects", now, err,
			m.UIDs)
	}
	for name, uid := range m.UIDs {
		if now[name] != uid {
			t.Errorf("%s: got UID %q, want %q: scaling a rebuilt set restarted it", name, now[name], uid)
		}
	}
}

func (m *members) scale(t *testing.T, replicas int) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	if _, err := m.w.Sets.AppsV1().StatefulSets(m.Namespace).Patch(t.Context(), m.Set.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("scaling: %v", err)
	}
}

func uninstallInTheWrongOrder(t *testing.T, w *world, data string) {
	m := w.settle(t, w.Namespace(t, "guard"), "db", 2)

	manifest := w.kubectl(t, "get", "apiservice", apiService, "-o", "yaml")
	w.mustBeHardToDelete(t, "apiservice", apiService)
	w.kubectl(t, "delete", "apiservice", apiService)
	m.mustStay(t, "without the APIService", shortly)
	w.stop(t)
	w.restartControllers(t)
	m.mustStay(t, "without the APIService and the server", shortly)
	w.apply(t, manifest)
	m.mustStay(t, "without the server", shortly)

	// The note goes, with its namespace for example, and the data, too.
	const system, note = "statefulset-system", "statefulset-apiserver-store"
	w.mustBeHardToDelete(t, "namespace", system)
	w.kubectl(t, "annotate", "namespace", system, allowDelete+"-")
	w.mustBeHardToDelete(t, "-n", system, "configmap", note)
	w.kubectl(t, "delete", "-n", system, "configmap", note)
	w.launch(t, filepath.Join(t.TempDir(), "empty"))
	w.mustRefuse(t, "the cluster has no note about a store")
	m.mustStay(t, "on an empty store without a note", shortly)
	w.stop(t)
	w.launch(t, data)
	w.awaitServed(t)
	m.mustStay(t, "on the right store without a note", shortly)

	// The right order: the sets first.
	sets := w.Sets.AppsV1().StatefulSets(m.Namespace)
	if err := sets.Delete(t.Context(), m.Set.Name,
		metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatalf("deleting the set: %v", err)
	}
	harness.Eventually(t, "the set is gone", func(ctx context.Context) error {
		if _, err := sets.Get(ctx, m.Set.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("get: %w", err)
		}
		return nil
	})
	m.mustGo(t)
}

// mustBeHardToDelete makes sure that deleting an object is refused, and then allows it.
func (w *world) mustBeHardToDelete(t *testing.T, object ...string) {
	t.Helper()
	if out, err := w.tryKubectl(t, append([]string{"delete", "--dry-run=server"}, object...)...); err == nil ||
		!strings.Contains(out, allowDelete+"=yes") {
		t.Errorf("deleting %q: got %v, %s; want a refusal that names %s", object, err, out, allowDelete)
	}
	w.kubectl(t, append([]string{"annotate", "--overwrite"}, append(object, allowDelete+"=yes")...)...)
}

// allowDelete is the annotation without which what the store needs stays.
const allowDelete = "apps.statefulset.dev/allow-delete"

func (w *world) apply(t *testing.T, manifest string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	write(t, file, []byte(manifest))
	w.kubectl(t, "apply", "-f", file)
}
