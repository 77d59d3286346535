// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/client/clientset/versioned"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
)

// limitedHost is a host that creates pods for as long as there is room in the quota.
// An answer takes some milliseconds.
type limitedHost struct {
	endpoint
	client kubernetes.Interface
	sets   versioned.Interface

	mu      sync.Mutex
	room    int
	created int
	refused []time.Time
	// refuses makes the host refuse pods for another reason than the quota.
	refuses func(name string) error
}

func (h *limitedHost) createPod(ctx context.Context, object metav1.Object) (metav1.Object, error) {
	time.Sleep(5 * time.Millisecond)
	if err := h.admit(object.GetName()); err != nil {
		return nil, err
	}
	made, err := h.create(ctx, object)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil { // it exists: the reflector of the fake host misses what happens between its list and its watch
		h.room++
	} else {
		h.created++
	}
	return made, err
}

func (h *limitedHost) admit(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuses != nil {
		if err := h.refuses(name); err != nil {
			h.refused = append(h.refused, time.Now())
			return err
		}
	}
	if h.room > 0 {
		h.room--
		return nil
	}
	h.refused = append(h.refused, time.Now())
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, name,
		errors.New("exceeded quota: limit, requested: pods=1, used: pods=20, limited: pods=20"))
}

// refusing makes the host refuse pods of these names, and no others, until it is told otherwise.
func (h *limitedHost) refusing(names map[string]error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuses = func(name string) error { return names[name] }
}

func (h *limitedHost) lastRefusal() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused[len(h.refused)-1]
}

func (h *limitedHost) counts() (created, refused int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.created, len(h.refused)
}

// allow gives the quota room for more pods, as its controller does.
func (h *limitedHost) allow(t *testing.T, more int) {
	t.Helper()
	h.mu.Lock()
	h.room += more
	h.mu.Unlock()
	quota, err := h.client.CoreV1().ResourceQuotas("shop").Get(t.Context(), "limit", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hard := quota.Status.Hard[corev1.ResourcePods]
	hard.Add(*quantity.NewQuantity(int64(more), quantity.DecimalSI))
	quota.Status.Hard[corev1.ResourcePods] = hard
	if _, err := h.client.CoreV1().ResourceQuotas("shop").UpdateStatus(t.Context(), quota, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func startLimitedTerm(t *testing.T, room int, set runtime.Object, objects ...runtime.Object) *limitedHost {
	t.Helper()
	return startLimitedTermOf(t, room, []runtime.Object{set}, objects...)
}

// noEvents receives events, and keeps none.
type noEvents struct{}

func (noEvents) Create(event *corev1.Event) (*corev1.Event, error)          { return event, nil }
func (noEvents) Update(event *corev1.Event) (*corev1.Event, error)          { return event, nil }
func (noEvents) Patch(event *corev1.Event, _ []byte) (*corev1.Event, error) { return event, nil }

func startLimitedTermOf(t *testing.T, room int, sets []runtime.Object, objects ...runtime.Object) *limitedHost {
	t.Helper()
	usual := watch.DefaultChanSize // a watch of the fake clients panics when it is full
	watch.DefaultChanSize = 20_000
	t.Cleanup(func() { watch.DefaultChanSize = usual })
	used := corev1.ResourceList{corev1.ResourcePods: *quantity.NewQuantity(int64(room), quantity.DecimalSI)}
	// The other fake client builds a table of all kinds at each write, and there are many.
	client := fake.NewSimpleClientset(append(objects, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "limit"},
		Status:     corev1.ResourceQuotaStatus{Hard: used, Used: used},
	})...)
	config := Config{Options: NewOptions(), Host: client, Sets: setsfake.NewSimpleClientset(sets...), Identity: "test", Events: noEvents{}}
	if err := config.complete(); err != nil {
		t.Fatalf("completing configuration: %v", err)
	}
	gauges, err := newGauges(nil)
	if err != nil {
		t.Fatal(err)
	}
	all := watchedKinds(client, config.Sets)
	limited := &limitedHost{endpoint: all.of(podsResource).endpoint, client: client, sets: config.Sets, room: room}
	all.of(podsResource).create = limited.createPod
	term := newTerm(config, all, gauges, func() error { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); term.run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return limited
}

func TestASetAtItsQuotaAsksSeldomAndGoesOnWhenThereIsRoom(t *testing.T) {
	for _, room := range []int{0, 20} {
		t.Run(fmt.Sprintf("a quota of %d pods", room), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := startLimitedTerm(t, room, parallelSet("web", 100))
				time.Sleep(time.Second)
				_, soon := host.counts()
				time.Sleep(5*time.Minute - time.Second)
				created, refused := host.counts()
				t.Logf("100 members, %d allowed: %d created, %d refused creates in the first second, %d in five minutes", room, created, soon, refused)
				if created != room || refused == 0 || refused > 30 {
					t.Errorf("got %d created and %d refused in five minutes, want %d, and between 1 and 30", created, refused, room)
				}
				host.allow(t, 10)
				began := time.Now()
				eventually(t, "there are ten more", func() bool { created, _ := host.counts(); return created == room+10 })
				t.Logf("ten more %s after there was room", time.Since(began))
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("got ten more pods after %s, want them within 5s", took)
				}
			})
		})
	}
}

func TestOneMemberThatIsRefusedDoesNotKeepTheOthersFromBeingTried(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for sentence, refusal := range map[string]error{
		"a policy forbids it":         apierrors.NewForbidden(pods, "web-0", errors.New("a policy denied it")),
		"it is invalid":               apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "web-0", nil),
		"its webhook does not answer": apierrors.NewInternalError(errors.New("failed calling webhook")),
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := startLimitedTerm(t, 100, parallelSet("web", 100))
				host.refuses = func(name string) error {
					if name == "web-0" || name == "web-50" {
						return refusal
					}
					return nil
				}
				began := time.Now()
				eventually(t, "the others exist", func() bool { created, _ := host.counts(); return created == 98 })
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("got 98 of 100 pods after %s, want them within 5s", took)
				}
				time.Sleep(5 * time.Minute)
				if _, refused := host.counts(); refused > 40 {
					t.Errorf("got %d refused creates of two members in five minutes, want 40 at most", refused)
				}
			})
		})
	}
}

func TestRoomIsRememberedWhereSomebodyMayWaitForIt(t *testing.T) {
	const many = 10_000
	quotas, memory, now := newQuotas(fake.NewClientset()), newSetStates(), time.Now()
	waiting := memory.getOrCreate(cache.NewObjectName("shop", "web"))
	waiting.keepFailures("web-uid", failures{paces: map[string]pace{"create": {attempt: attempt{
		err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("exceeded quota: q"))}}}})
	note := func(namespace string) {
		quotas.sweep(now, memory)
		quotas.gotRoom(namespace, now)
	}
	note("shop")
	for i := range many {
		note(fmt.Sprintf("other-%d", i))
	}
	if got := len(quotas.room); got != many+1 {
		t.Fatalf("got %d namespaces while a write may be under way in each, want %d", got, many+1)
	}
	now = now.Add(roomKept)
	note("other-0")
	if _, kept := quotas.room["shop"]; len(quotas.room) != 2 || !kept {
		t.Errorf("got %d namespaces a while later, and that of the set that waits: %t; want it and the one that has just got room",
			len(quotas.room), kept)
	}
}
