//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"statefulset.dev/test/harness/lab"
)

// aStoreMoves takes the store of one server to an etcd of the user's, from there to three members of
// ours, back to another etcd, and to one server again. Nobody accepts anything on the way: the server
// has ended before each backup, so every store has its last mark.
func aStoreMoves(t *testing.T, w *world, data string) {
	w.stop(t)
	ours := w.StoreMembers(t, "../../../artifacts/ha/rbac-etcd.yaml", 3)
	w.launch(t, data)
	w.acceptIfRefused(t) // the members above have taken the note away
	w.awaitServed(t)
	ns := w.Namespace(t, "guard")
	settled := []*members{w.settle(t, ns, "single", 2)}
	etcdutl := buildEtcdutl(t)
	// arrived is that all is there that was there, and that more can be.
	arrived := func(where, name string) {
		t.Helper()
		w.awaitServed(t)
		for _, m := range settled {
			m.AwaitReady(t)
			m.mustStay(t, where, 0)
		}
		settled = append(settled, w.settle(t, ns, name, 1))
		w.stop(t)
	}
	backup := func(from string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "backup")
		t.Log(w.store(t, "backup", from, "--to="+file))
		return file
	}

	w.stop(t)
	first, stopFirst := w.theirs(t, etcdutl, backup("--data-dir="+data), 3)
	w.launchWith(t, w.program.Args.Without("data-dir").With("etcd-servers", first))
	arrived("on an etcd of the user's, from one server", "external")

	t.Log(w.store(t, "restore", "--accept-unauthenticated", "--from="+backup("--etcd-servers="+first), "--data-dir="+ours[0].Data))
	stopFirst()
	var urls []string
	var running []*lab.Process
	for _, m := range ours {
		running = append(running, w.Launch(t, m.Program))
		urls = append(urls, m.URL)
	}
	for _, p := range running {
		if err := p.AwaitReady(t.Context()); err != nil {
			t.Fatalf("a member of the store: %v", err)
		}
	}
	w.launchWith(t,
		w.program.Args.Without("data-dir").With("etcd-servers", strings.Join(urls, ",")).With("etcd-tls-auto", filepath.Join(t.TempDir(), "tls")))
	arrived("on three members of ours, from an etcd of the user's", "members")

	second, stopSecond := w.theirs(t, etcdutl, backup("--data-dir="+ours[0].Data), 1)
	w.launchWith(t, w.program.Args.Without("data-dir").With("etcd-servers", second))
	arrived("on another etcd of the user's, from three members of ours", "external-again")

	single := filepath.Join(t.TempDir(), "single")
	t.Log(w.store(t, "restore", "--accept-unauthenticated", "--from="+backup("--etcd-servers="+second), "--data-dir="+single))
	stopSecond()
	w.launch(t, single)
	arrived("on one server, from an etcd of the user's", "single-again")
}

// theirs is an etcd of the user's, with so many members, that begins with a backup.
func (w *world) theirs(t *testing.T, etcdutl, backup string, n int) (urls string, stop func()) {
	t.Helper()
	var all []string
	var running []*lab.Process
	for _, m := range w.EtcdMembers(t, n) {
		args := []string{"snapshot", "restore", backup}
		for _, arg := range m.Args {
			for _, same := range []string{"--name=", "--data-dir=", "--initial-cluster=", "--initial-advertise-peer-urls="} {
				if strings.HasPrefix(arg, same) {
					args = append(args, arg)
				}
			}
		}
		run(t, etcdutl, args...)
		running = append(running, w.Launch(t, m.Program))
		all = append(all, m.URL)
	}
	for _, p := range running {
		if err := p.AwaitReady(t.Context()); err != nil {
			t.Fatalf("an etcd of the user's: %v", err)
		}
	}
	return strings.Join(all, ","), func() {
		for _, p := range running {
			p.Stop(t, grace)
		}
	}
}

// buildEtcdutl builds etcd's own program, with which users restore.
func buildEtcdutl(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "etcdutl")
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-o", path, "go.etcd.io/etcd/etcdutl/v3")
	cmd.Dir = "../../cluster/modules/etcdutl"
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building etcdutl: %v\n%s", err, output)
	}
	return path
}
