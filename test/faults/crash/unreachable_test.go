//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// breaks are the ways in which our server and the host lose each other. Each returns
// when the break is over.
func (b *bench) breaks(t *testing.T, link *proxy.Link) map[string]func() {
	return map[string]func(){
		"server to host refused for 5s": func() {
			link.Cut()
			wait(t, 5*time.Second)
			link.Heal()
		},
		"server to host reset ten times": func() {
			for range 10 {
				link.Reset()
				wait(t, 300*time.Millisecond)
			}
		},
		"server to host held for 1s":  func() { held(t, link, time.Second, proxy.Forth) },
		"host to server held for 10s": func() { held(t, link, 10*time.Second, proxy.Back) },
		"both ways held for 10s":      func() { held(t, link, 10*time.Second, proxy.Forth, proxy.Back) },
		"requests of the host to us refused for 5s": func() {
			b.front.Cut()
			wait(t, 5*time.Second)
			b.front.Heal()
		},
	}
}

func held(t *testing.T, link *proxy.Link, d time.Duration, directions ...proxy.Direction) {
	for _, direction := range directions {
		link.Hold(direction)
	}
	wait(t, d)
	link.Heal()
}

// Our server and the host lose each other in the middle of all scenarios. While they do
// not see each other, a user deletes a member of every set, so that the view from before
// is a wrong one.
func TestHostUnreachable(t *testing.T) {
	b := openBench(t)
	link := proxy.NewLink(t, "127.0.0.1:0", b.Address(lab.HostAPI), false)
	b.Start(t, b.controller(t, ours, b.server.Name, "https://"+link.Address(), b.etcd.URL))
	b.warmUp(t)
	reference := b.reference(t, ours)
	v := newVerdict("host unreachable, each direction", ours)
	var slowest time.Duration
	for name, unreachable := range b.breaks(t, link) {
		runs := b.newRuns(t, ours, chosen(t, ours))
		var playing sync.WaitGroup
		playing.Go(func() { playAll(t, runs) })
		b.untilBusy(t, runs)
		var broken sync.WaitGroup
		broken.Go(unreachable)
		b.deleteFirstPods(t, runs)
		broken.Wait()
		healed := time.Now()
		playing.Wait()
		v.runs += len(runs)
		took := time.Since(healed)
		slowest = max(slowest, took)
		t.Logf("%s: all runs were played %s after the heal", name, took.Round(time.Millisecond))
		b.judgeAll(t, v, runs, reference)
	}
	v.note("all %d runs of a break were played at most %s after it", len(chosen(t, ours)), slowest.Round(time.Second))
	v.report(t, b)
}

// untilBusy waits until half of the runs have a member.
func (b *bench) untilBusy(t *testing.T, runs []*run) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; wait(t, 10*time.Millisecond) {
		busy := 0
		for _, r := range runs {
			if len(r.observed().Pods) > 0 {
				busy++
			}
		}
		if 2*busy >= len(runs) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %d runs with members after %s, want half of %d", busy, patience, len(runs))
		}
	}
}

// deleteFirstPods deletes the first member of each run, as a user of the host. No scenario
// with whenScaled=Delete removes that one: the claim of a surplus member whose pod is gone
// before it is removed stays, and then the end would depend on who was faster. Nor is one deleted
// that may be created anew with an image with which it gets stuck.
func (b *bench) deleteFirstPods(t *testing.T, runs []*run) {
	t.Helper()
	for _, r := range runs {
		if r.scenario.MayGetStuck() {
			continue
		}
		var living []corev1.Pod
		for _, pod := range r.observed().Pods {
			if pod.DeletionTimestamp == nil {
				living = append(living, pod)
			}
		}
		if len(living) == 0 {
			continue
		}
		first := slices.MinFunc(living, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		_ = b.Host.CoreV1().Pods(first.Namespace).Delete(t.Context(), first.Name, metav1.DeleteOptions{
			Preconditions: metav1.NewUIDPreconditions(string(first.UID)),
		})
	}
}

// refused counts the writes that the host refused because they were decided on a view
// that had become old.
func (b *bench) refused(t *testing.T, runs []*run) int {
	t.Helper()
	n := 0
	for _, r := range runs {
		for _, e := range b.audit.of(t, r.side.user(), r.namespace) {
			if e.code == http.StatusConflict {
				n++
			}
		}
	}
	return n
}

func describe(n int, of string) string { return fmt.Sprintf("%d %s", n, of) }
