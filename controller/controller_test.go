// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
)

func TestAControllerBringsUpASetAndStopsWhenToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, sets := fake.NewClientset(), setsfake.NewSimpleClientset(newSet("web", "www"))
		c := start(t, host, sets, "one")
		eventually(t, "the controller is ready", func() bool { return c.Leading() && c.Ready() == nil })
		for ready := range 3 {
			eventually(t, "the next pod exists", func() bool { return podCount(t, host) == ready+1 })
			// A minute is more than enough for a controller that does not wait for readiness.
			time.Sleep(time.Minute)
			if got := podCount(t, host); got != ready+1 {
				t.Fatalf("got %d pods while the last is not ready, want %d", got, ready+1)
			}
			beReady(t, host)
		}
		eventually(t, "the status says three", func() bool {
			set, err := sets.AppsV1().StatefulSets("shop").Get(t.Context(), "web", metav1.GetOptions{})
			return err == nil && set.Status.AvailableReplicas == 3
		})
		c.end()
		if c.Leading() || c.Ready() == nil {
			t.Errorf("got leading %v and ready %v after the end, want neither", c.Leading(), c.Ready())
		}
		if got := holder(t, host); got != "" {
			t.Errorf("got lease held by %q after the end, want nobody", got)
		}
	})
}

func TestALeaderIsReplaced(t *testing.T) {
	cases := map[string]struct {
		stop   func(leader *running, cutOff *atomic.Bool)
		within time.Duration
	}{
		"at the next try if it hands over":     {func(leader *running, _ *atomic.Bool) { leader.end() }, 5 * time.Second},
		"within 15 seconds if it cannot renew": {func(_ *running, cutOff *atomic.Bool) { cutOff.Store(true) }, 15 * time.Second},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host, sets := fake.NewClientset(), setsfake.NewSimpleClientset()
				var cutOff atomic.Bool
				host.PrependReactor("update", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
					byOne := holderOf(action.(clienttesting.UpdateAction).GetObject()) == "one"
					return cutOff.Load() && byOne, nil, errors.New("no way to the host")
				})
				one := start(t, host, sets, "one")
				eventually(t, "one leads", one.Leading)
				two := start(t, host, sets, "two")
				time.Sleep(time.Minute)
				if two.Leading() || two.Ready() != nil {
					t.Fatalf("got leading %v and ready %v for the second replica, want it ready and waiting", two.Leading(), two.Ready())
				}
				began := time.Now()
				test.stop(one, &cutOff)
				eventually(t, "two leads", func() bool { return two.Leading() && two.Ready() == nil })
				if took := time.Since(began); took > test.within {
					t.Errorf("got a successor after %s, want within %s", took, test.within)
				}
				if one.Leading() {
					t.Error("got two leaders, want one")
				}
			})
		})
	}
}

func TestASyncThatPanicsLeavesTheOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := newSet("broken")
		host, sets := fake.NewClientset(), setsfake.NewSimpleClientset(broken, newSet("web"))
		host.PrependReactor("create", "controllerrevisions", func(action clienttesting.Action) (bool, runtime.Object, error) {
			revision := action.(clienttesting.CreateAction).GetObject().(metav1.Object)
			if revision.GetOwnerReferences()[0].UID == broken.UID {
				panic("a mistake")
			}
			return false, nil, nil
		})
		start(t, host, sets, "one")
		eventually(t, "the other set has its pod", func() bool { return podCount(t, host) == 1 })
		eventually(t, "the broken one says so", func() bool {
			set, err := sets.AppsV1().StatefulSets("shop").Get(t.Context(), "broken", metav1.GetOptions{})
			return err == nil && conditionOf(set, v1.StatefulSetReady).Status == corev1.ConditionFalse
		})
	})
}

// running is a controller that runs.
type running struct {
	*Controller

	end func()
}

func start(t *testing.T, host *fake.Clientset, sets versioned.Interface, identity string) *running {
	t.Helper()
	c, err := New(Config{Options: NewOptions(), Host: host, Sets: sets, Identity: identity})
	if err != nil {
		t.Fatalf("building controller: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	end := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("running controller: %v", err)
		}
	})
	t.Cleanup(end)
	return &running{c, end}
}

// eventually waits for a condition, for five minutes of the time in the bubble.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func podCount(t *testing.T, host *fake.Clientset) int {
	t.Helper()
	pods, err := host.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	return len(pods.Items)
}

// beReady makes all pods ready, as kubelets do.
func beReady(t *testing.T, host *fake.Clientset) {
	t.Helper()
	pods, err := host.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		if _, err := host.CoreV1().Pods("shop").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatalf("making pod %q ready: %v", pod.Name, err)
		}
	}
}

func conditionOf(set *v1.StatefulSet, kind v1.StatefulSetConditionType) v1.StatefulSetCondition {
	for _, condition := range set.Status.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return v1.StatefulSetCondition{}
}
