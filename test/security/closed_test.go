//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// TestWithoutTheHostNobodyIsServed starts a server whose host is down, lets the host come,
// and takes it away again.
func TestWithoutTheHostNobodyIsServed(t *testing.T) {
	w := shared(t)
	ns := w.Namespace(t, "security")
	w.bind(t, ns, "view", "early")
	link := proxy.NewLink(t, "127.0.0.1:0", w.Address(lab.HostAPI), false)
	link.Cut()
	program := w.replica(t, "closed", map[string]string{"kubeconfig": w.kubeconfigTo(t, "https://"+link.Address()), "host-timeout": "2m"})
	process := w.Launch(t, program)

	base := "https://127.0.0.1:" + program.Port()
	admin, early := w.admin(t), w.direct(t, w.known(t, "early"))
	down := func(when string, client *http.Client, path string) {
		t.Helper()
		// The port is taken from the start on; who connects too early waits.
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		got, err := try(ctx, client, request{url: base + path})
		if err == nil && got.code < 400 {
			t.Errorf("%s %s: got %d, %s, want no connection or a refusal", when, path, got.code, got.body)
		}
	}
	for _, path := range []string{group + "/statefulsets", setsIn(ns), "/readyz", "/metrics"} {
		var running sync.WaitGroup
		for _, client := range []*http.Client{admin, early} {
			running.Go(func() { down("while the host is down", client, path) })
		}
		running.Wait()
	}
	link.Heal()
	if err := process.AwaitReady(t.Context()); err != nil {
		t.Fatalf("after the host came back: %v", err)
	}
	if got := ask(t, early, request{url: base + setsIn(ns)}); got.code != http.StatusOK {
		t.Errorf("after the host came back: got %d, %s, want 200", got.code, got.body)
	}

	w.bind(t, ns, "view", "late")
	link.Cut()
	late := w.direct(t, w.known(t, "late"))
	for range 3 { // nothing is known of this user yet, and nothing can be
		down("after the host has gone", late, setsIn(ns))
	}
	harness.Eventually(t, "the server is not ready without its host", func(ctx context.Context) error {
		if got, err := try(ctx, admin, request{url: base + "/readyz"}); err != nil || got.code == http.StatusOK {
			return fmt.Errorf("got %d, %w, want a refusal", got.code, err)
		}
		return nil
	})
	link.Heal()
	harness.Eventually(t, "the server is ready with its host", program.Ready)
	if got := ask(t, late, request{url: base + setsIn(ns)}); got.code != http.StatusOK {
		t.Errorf("after the host came back again: got %d, %s, want 200", got.code, got.body)
	}
}

// TestAnonymousCallersGetHealthOnly asks for everything that is served, without saying
// who asks.
func TestAnonymousCallersGetHealthOnly(t *testing.T) {
	t.Parallel()
	w := shared(t)
	nobody, admin := w.direct(t), w.admin(t)
	refused, open := 0, 0
	for _, path := range w.paths(t, admin) {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			got := ask(t, nobody, request{method: method, url: w.server() + path})
			health := path == "/healthz" || path == "/livez" || path == "/readyz" || strings.HasPrefix(path, "/healthz/") ||
				strings.HasPrefix(path, "/livez/") || strings.HasPrefix(path, "/readyz/")
			switch {
			case !health && got.code != http.StatusUnauthorized:
				t.Errorf("%s %s: got %d, %.200s, want 401", method, path, got.code, got.body)
			case !health:
				refused++
			case got.code == http.StatusOK:
				open++
			}
			if got.code == http.StatusUnauthorized && strings.Contains(got.body, "statefulset-") {
				t.Errorf("%s %s: got a refusal that tells more than that: %s", method, path, got.body)
			}
		}
	}
	if open == 0 || refused < 60 {
		t.Errorf("got %d requests served and %d refused, want some and at least 60", open, refused)
	}
	t.Logf("%d requests without credentials refused with 401, %d answered, all about health", refused, open)
}

// paths are those that the server lists, and those that it does not.
func (w *world) paths(t testing.TB, admin *http.Client) []string {
	t.Helper()
	var index struct{ Paths []string }
	decode(t, ask(t, admin, request{url: w.server() + "/"}).body, &index)
	if len(index.Paths) < 10 {
		t.Fatalf("the server lists %q, want at least 10 paths", index.Paths)
	}
	sets := setsIn("default")
	return append(index.Paths, "/", "/api", "/apis", "/apis/", group, group+"/", group+"/statefulsets", group+"/watch/statefulsets", sets,
		sets+"?watch=1",
		sets+"/x", sets+"/x/status", sets+"/x/scale", sets+"/x/plan", sets+"/x/unknown", "/metrics", "/metrics/slis", "/version", "/openapi/v2",
		"/openapi/v3",
		"/openapi/v3/apis/apps.statefulset.dev/v1", "/debug/pprof", "/debug/pprof/", "/debug/pprof/profile", "/debug/pprof/heap",
		"/debug/flags/v", "/debug/damaged",
		"/debug/controller", "/debug/api_priority_and_fairness/dump_requests", "/logs", "/statusz", "/flagz", "/configz", "/healthz/../apis",
		"/healthzx", "/readyz2", "/livez/../metrics")
}
