//go:build uninstall

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestUninstall is one test, because its parts share the installation.
func TestUninstall(t *testing.T) {
	w := open(t)
	t.Run("wrong orders", func(t *testing.T) { wrongOrders(t, w) })
	t.Run("wrong orders that were meant", func(t *testing.T) { meant(t, w) })
	t.Run("nothing is changed while there are sets, or while nobody knows", func(t *testing.T) { refusals(t, w) })
	t.Run("members are orphaned", func(t *testing.T) { orphaned(t, w) })
	t.Run("sets are deleted, interrupted after every write", func(t *testing.T) { interrupted(t, w) })
}

func refusals(t *testing.T, w *world) {
	m := w.settle(t, 2)
	before := w.versions(t)
	_, err := w.command(t, -1, "uninstall")
	mustSay(t, err, "nothing was changed", "namespace "+m.Namespace+": 1 (db)", "--delete-sets", "--orphan-members")
	said, err := w.command(t, -1, "uninstall", "--delete-sets", "--dry-run=client")
	if err != nil || !strings.Contains(said, "1 sets: delete them") {
		t.Errorf("dry run: got %v and\n%s\nwant the steps", err, said)
	}
	w.stop(t)
	_, err = w.command(t, -1, "uninstall", "--delete-sets")
	mustSay(t, err, "nothing was changed", "does not report which sets exist", "kubectl sts doctor", "2 pods, 1 revisions and 2 claims")
	_, err = w.command(t, -1, "uninstall", "--delete-sets", "--without-server")
	mustSay(t, err, "nothing was changed", "belong to sets")
	if after := w.versions(t); after != before {
		t.Errorf("got versions %s after refusals, want %s", after, before)
	}
	w.install(t)
	m.mustStayUnderCollection(t, "after refusals")
	m.mustGoPromptly(t)
}

func orphaned(t *testing.T, w *world) {
	m := w.settle(t, 2)
	said, err := w.command(t, -1, "uninstall", "--orphan-members")
	if err != nil {
		t.Fatalf("got %v and\n%s\nwant no error", err, said)
	}
	t.Logf("it said\n%s", said)
	w.follow(t)
	w.mustBeUninstalled(t)
	m.mustStayUnderCollection(t, "orphaned, without the API")
	m.mustGoPromptly(t)
	w.install(t)
}

func interrupted(t *testing.T, w *world) {
	m := w.settle(t, 2)
	other := w.settle(t, 1)
	runs := 0
	for {
		said, err := w.command(t, 1, "uninstall", "--delete-sets")
		w.follow(t)
		if err == nil {
			t.Logf("the last of %d runs said\n%s", runs+1, said)
			break
		}
		if !errors.Is(err, errInterrupted) {
			t.Fatalf("run %d: got %v and\n%s\nwant an interruption only", runs+1, err, said)
		}
		if runs++; runs > 200 {
			t.Fatalf("got no end after %d runs, the last with %v", runs, err)
		}
	}
	if runs < 20 {
		t.Errorf("got %d interruptions, want one for every write", runs)
	}
	w.mustBeUninstalled(t)
	for _, of := range []*members{m, other} {
		if left, err := of.Present(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("got members %v, %v, want none", left, err)
		}
		of.mustGoPromptly(t)
	}
	if said, err := w.command(t, -1, "uninstall"); err != nil {
		t.Errorf("once more: got %v and\n%s\nwant no error", err, said)
	}
	w.install(t)
	w.settle(t, 1).mustGoPromptly(t)
}

// mustBeUninstalled looks for what the command removes and for what it leaves.
func (w *world) mustBeUninstalled(t *testing.T) {
	t.Helper()
	for _, o := range w.installed(t) {
		err := w.get(t, o)
		stays := o.GetKind() == "Namespace" || o.GetKind() == "PersistentVolumeClaim"
		if stays && err != nil || !stays && !apierrors.IsNotFound(err) {
			t.Errorf("%s: got %v, want it there: %t", nameOf(o), err, stays)
		}
	}
	if _, err := w.Host.CoreV1().ConfigMaps(system).Get(t.Context(), "statefulset-apiserver-store", metav1.GetOptions{}); err != nil {
		t.Errorf("the note: got %v, want it to stay", err)
	}
}

func mustSay(t *testing.T, err error, want ...string) {
	t.Helper()
	for _, part := range want {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got error %v, want one with %q", err, part)
		}
	}
}
