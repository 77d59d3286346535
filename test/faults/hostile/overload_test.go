//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

const (
	// memoryCeiling is what the server may have in memory at most, whatever is sent to
	// it: with the requests below at the same time.
	memoryCeiling = 2 << 30

	// stored sets, each of about setSize bytes, make a list that is worth refusing.
	stored, setSize = 300, 10 << 10
	listers         = 100
	writers         = 60
	// watchers is how many watches are opened at once; WATCHERS says otherwise.
	watchers = 5000
	// overload is how long it lasts; DURATION says otherwise.
	overload = 40 * time.Second
	// slack is how many goroutines more than before there may be afterwards.
	slack = 100
)

// tally counts answers by their codes; 0 stands for a connection that broke.
type tally struct {
	mu     sync.Mutex
	codes  map[int]int
	open   int    // answers that have begun with success and not ended
	sample string // the last answer with a code of 500 or more
}

func (c *tally) add(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.codes[code]++
}

// begun notes that an answer has begun, and returns what notes its end.
func (c *tally) begun() (ended func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
	}
}

func (c *tally) underWay() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

func (c *tally) keep(sample string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sample = sample
}

func (c *tally) of(code int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.codes[code]
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(c.codes)) {
		parts = append(parts, fmt.Sprintf("%d times %d", c.codes[code], code))
	}
	return strings.Join(parts, ", ")
}

// TestOverloadIsShed sends far more than the server may serve at the same time, straight
// to it: lists of everything, writes, and a stampede of watches.
func TestOverloadIsShed(t *testing.T) {
	w := newWorld(t, map[string]string{
		"max-requests-inflight": "60", "max-mutating-requests-inflight": "30", "preflight": "off",
	})
	w.fill()
	before := w.goroutines()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	lists, writes, watches := &tally{codes: map[int]int{}}, &tally{codes: map[int]int{}}, &tally{codes: map[int]int{}}
	var running sync.WaitGroup
	listing, base := w.client("lister")
	writing, _ := w.client("writer")
	watching, _ := w.client("watcher")
	sets := base + "/apis/apps.statefulset.dev/v1/namespaces/" + w.namespace + "/statefulsets"
	for range listers {
		running.Go(func() { repeat(ctx, func() { lists.add(send(ctx, listing, http.MethodGet, sets, "", lists)) }) })
	}
	for i := range writers {
		url := fmt.Sprintf("%s/stored-%d", sets, i%stored)
		running.Go(func() {
			repeat(ctx, func() {
				writes.add(send(ctx, writing, http.MethodPatch, url,
					fmt.Sprintf(`{"metadata":{"annotations":{"test/at":"%d"}}}`, time.Now().UnixNano()), writes))
			})
		})
	}
	for range harness.Number(t, "WATCHERS", watchers) {
		running.Go(func() {
			repeat(ctx, func() {
				code := send(ctx, watching, http.MethodGet, sets+"?watch=1&fieldSelector=metadata.name%3Dstored-0", "", watches)
				if watches.add(code); code != http.StatusOK {
					pause(ctx, time.Second) // as Retry-After says
				}
			})
		})
	}

	began := time.Now()
	w.create("during", 3)
	w.awaitReady("during", 3)
	t.Logf("a set of 3 was ready %s after it was created under the load", time.Since(began).Round(time.Millisecond))
	pause(ctx, time.Until(began.Add(time.Duration(harness.Number(t, "DURATION", int(overload/time.Second)))*time.Second)))
	open := watches.underWay()
	stop()
	running.Wait()
	t.Logf("lists: %s; writes: %s; watches: %s, open at the end: %d", lists, writes, watches, open)
	t.Logf("answers of the server's fault: %q %q %q", lists.sample, writes.sample, watches.sample)

	violations := w.verdict(before, lists, writes, watches)
	row.Report(t, row.Row{Fault: "overload", Side: "ours", Where: "real",
		Runs: lists.of(200) + lists.of(429) + writes.of(200) + writes.of(429) + open, Violations: violations,
		Detail: fmt.Sprintf("%d listers, %d writers, %d watches open; %d requests shed with 429; at most %d MiB", listers, writers, open,
			lists.of(429)+writes.of(429)+watches.of(429), w.memory()>>20)})
}

// verdict counts what an overload must not do.
func (w *world) verdict(goroutines int, lists, writes, watches *tally) (violations int) {
	w.t.Helper()
	report := func(format string, args ...any) {
		violations++
		w.t.Errorf(format, args...)
	}
	if lists.of(429)+writes.of(429)+watches.of(429) == 0 {
		report("requests shed with 429: got none, want some; lists: %s; writes: %s; watches: %s", lists, writes, watches)
	}
	if lists.of(200) == 0 || writes.of(200) == 0 {
		report("requests served: got lists: %s; writes: %s; want some of each", lists, writes)
	}
	for _, code := range []int{500, 502, 503} {
		if n := lists.of(code) + writes.of(code); n > 0 {
			report("answers with code %d: got %d, want none", code, n)
		}
	}
	select {
	case <-w.server.Exited():
		report("the server has ended")
		return violations
	default:
	}
	if peak := w.memory(); peak > memoryCeiling {
		report("memory: got %d MiB, want at most %d", peak>>20, memoryCeiling>>20)
	}
	w.eventually("the goroutines have ended", func(context.Context) error {
		if now := w.goroutines(); now > goroutines+slack {
			return fmt.Errorf("got %d, want at most %d and %d more", now, goroutines, slack)
		}
		return nil
	})
	return violations
}

// fill stores sets without members.
func (w *world) fill() {
	w.t.Helper()
	var running sync.WaitGroup
	const at = 8
	for worker := range at {
		running.Go(func() {
			for i := worker; i < stored; i += at {
				set := harness.NewSet(fmt.Sprintf("stored-%d", i), 0)
				set.Annotations = map[string]string{"test/size": strings.Repeat("x", setSize)}
				if _, err := w.Sets.AppsV1().StatefulSets(w.namespace).Create(w.t.Context(), set, metav1.CreateOptions{}); err != nil {
					w.t.Errorf("storing a set: %v", err)
				}
			}
		})
	}
	running.Wait()
}

// client speaks straight to the server, as somebody who may do everything and has no
// priority.
func (w *world) client(user string) (*http.Client, string) {
	w.t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := w.Host.RbacV1().ClusterRoleBindings().Create(w.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		w.t.Fatalf("binding a role: %v", err)
	}
	config := w.Direct(w.URL(lab.Server))
	config.QPS = -1
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		w.t.Fatalf("creating a client: %v", err)
	}
	return transport, config.Host
}

// send returns the code of the answer, after reading all of it.
func send(ctx context.Context, client *http.Client, method, url, body string, to *tally) int {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		defer to.begun()()
	}
	if response.StatusCode >= http.StatusInternalServerError {
		if text, err := io.ReadAll(response.Body); err == nil {
			to.keep(string(text))
		}
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil && !errors.Is(err, context.Canceled) {
		return 0
	}
	return response.StatusCode
}

func repeat(ctx context.Context, do func()) {
	for ctx.Err() == nil {
		do()
	}
}

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

func (w *world) goroutines() int {
	w.t.Helper()
	var count int
	w.eventually("the server tells its goroutines", func(ctx context.Context) (err error) {
		count, err = w.metric(ctx, "go_goroutines")
		return err
	})
	return count
}
