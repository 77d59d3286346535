// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
)

// busyHost is a host on which the creates of some sets' pods take long, and that
// counts what is under way.
type busyHost struct {
	endpoint

	term  *term
	hangs time.Duration
	// share is how much longer a create takes for each that is under way: the host makes
	// so many a second, however many it is asked for.
	share time.Duration

	mu               sync.Mutex
	under, most      int
	created          int
	firstInnocentPod time.Time
}

func (h *busyHost) createPod(ctx context.Context, object metav1.Object) (metav1.Object, error) {
	under := h.count(1)
	defer h.count(-1)
	time.Sleep(time.Duration(under) * h.share)
	if strings.HasPrefix(object.GetName(), "hanging") {
		select {
		case <-time.After(h.hangs):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	made, err := h.create(ctx, object)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.created++
	}
	if err == nil && h.firstInnocentPod.IsZero() && strings.HasPrefix(object.GetName(), "innocent") {
		h.firstInnocentPod = time.Now()
	}
	return made, err
}

func (h *busyHost) count(by int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.under += by
	h.most = max(h.most, h.under)
	return h.under
}

func (h *busyHost) innocentSince() (time.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.firstInnocentPod, !h.firstInnocentPod.IsZero()
}

func startBusyTerm(t *testing.T, hangs time.Duration, sets ...runtime.Object) (*busyHost, *setsfake.Clientset) {
	t.Helper()
	return startBusyTermOn(t, &busyHost{hangs: hangs}, sets...)
}

// startBusyTermOn lets a term run for the sets until the test ends.
func startBusyTermOn(t *testing.T, busy *busyHost, sets ...runtime.Object) (*busyHost, *setsfake.Clientset) {
	t.Helper()
	client := setsfake.NewSimpleClientset(sets...)
	config := Config{Options: NewOptions(), Host: fake.NewClientset(), Sets: client, Identity: "test"}
	if err := config.complete(); err != nil {
		t.Fatalf("completing configuration: %v", err)
	}
	gauges, err := newGauges(nil)
	if err != nil {
		t.Fatal(err)
	}
	all := watchedKinds(config.Host, client)
	busy.endpoint = all.of(podsResource).endpoint
	all.of(podsResource).create = busy.createPod
	term := newTerm(config, all, gauges, func() error { return nil })
	busy.term = term
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); term.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		if busy.under != 0 {
			t.Errorf("got %d writes under way after the end of the term, want it to wait for all", busy.under)
		}
	})
	synctest.Wait()
	return busy, client
}

func parallelSet(name string, replicas int32) *v1.StatefulSet {
	set := newSet(name)
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	set.Spec.Replicas = new(replicas)
	return set
}

func TestSetsWhoseCreatesHangDoNotHoldUpAnInnocentOne(t *testing.T) {
	for sentence, hanging := range map[string]int{"as many as there are workers": 10, "ten times as many": 100} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sets []runtime.Object
				for i := range hanging {
					sets = append(sets, parallelSet(fmt.Sprintf("hanging-%d", i), 160))
				}
				busy, client := startBusyTerm(t, 10*time.Second, sets...)
				// They have had time to take all that they can get.
				time.Sleep(30 * time.Second)
				began := time.Now()
				if _, err := client.AppsV1().StatefulSets("shop").Create(t.Context(), newSet("innocent"), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the innocent set has a pod", func() bool { _, ok := busy.innocentSince(); return ok })
				at, _ := busy.innocentSince()
				t.Logf("%d sets of 160 hang: first pod of an innocent set after %s; at most %d creates under way", hanging, at.Sub(began), busy.most)
				if took := at.Sub(began); took > 2*time.Second {
					t.Errorf("got the first pod of the innocent set after %s, want it within 2s", took)
				}
			})
		})
	}
}

func TestWritesUnderWayHaveABoundHoweverManySetsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hanging = writesAtOnce + 50
		var sets []runtime.Object
		for i := range hanging {
			sets = append(sets, parallelSet(fmt.Sprintf("hanging-%d", i), 2))
		}
		busy, _ := startBusyTerm(t, 10*time.Second, sets...)
		eventually(t, "all have their pods", func() bool {
			busy.mu.Lock()
			defer busy.mu.Unlock()
			return busy.created == 2*hanging
		})
		t.Logf("%d sets hang: at most %d creates under way", hanging, busy.most)
		if busy.most > writesAtOnce {
			t.Errorf("got %d creates under way, want %d at most", busy.most, writesAtOnce)
		}
	})
}

func TestAHostIsNotAskedForMoreThanItCanDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sets, replicas = 100, 20
		var all []runtime.Object
		for i := range sets {
			all = append(all, parallelSet(fmt.Sprintf("web-%d", i), replicas))
		}
		began := time.Now()
		busy, _ := startBusyTermOn(t, &busyHost{share: time.Millisecond}, all...)
		eventually(t, "all have their pods", func() bool {
			busy.mu.Lock()
			defer busy.mu.Unlock()
			return busy.created == sets*replicas
		})
		took := time.Since(began)
		t.Logf("%d sets of %d on a host that makes 1000 pods a second: %s, at most %d creates under way", sets, replicas,
			took.Round(time.Millisecond), busy.most)
		// With 64 under way answers are no longer good, and more would make none faster.
		if busy.most <= firstWindow || busy.most > 100 || took > 3*sets*replicas*busy.share {
			t.Errorf("got %d creates under way and %s for all, want more than %d and 100 at most, and at most three times the %s that the host needs", busy.most, took, firstWindow, sets*replicas*busy.share)
		}
	})
}
