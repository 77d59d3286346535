//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// A second is what times in Kubernetes are rounded down to.
const second = time.Second

func TestAMemberThatIsNotReadyHoldsUpTheNext(t *testing.T) {
	forBoth(t, "the next member waits until a probe succeeds again", func(t *testing.T, k kind) {
		s := newSet(t, k, 2, nil)
		s.tell(t, 0, "no")
		s.awaitPod(t, 0, "is not ready", func(pod *corev1.Pod) error {
			if !readySince(pod).IsZero() {
				return errors.New("it is ready")
			}
			return nil
		})
		s.patch(t, `{"spec":{"replicas":3}}`)
		s.tell(t, 0, "yes")
		first := s.awaitPod(t, 0, "is ready", func(pod *corev1.Pod) error {
			if readySince(pod).IsZero() {
				return errors.New("it is not ready")
			}
			return nil
		})
		s.awaitReady(t, 3)
		if made, ready := s.pod(t, 2).CreationTimestamp.Time, readySince(first); made.Before(ready) {
			t.Errorf("member 2 was created at %s: want not before member 0 was ready again, at %s", made, ready)
		}
	})
}

func TestMinReadySeconds(t *testing.T) {
	const wait = 3
	forBoth(t, "the next member waits for minReadySeconds", func(t *testing.T, k kind) {
		s := newSet(t, k, 3, func(made *v1.StatefulSet) { made.Spec.MinReadySeconds = wait })
		for i := range 2 {
			ready, made := readySince(s.pod(t, i)), s.pod(t, i+1).CreationTimestamp.Time
			if made.Sub(ready) < wait*second {
				t.Errorf("member %d was created %s after member %d was ready: want at least %ds", i+1, made.Sub(ready), i, wait)
			}
		}
	})
}

func TestAProcessThatTakesTimeToEnd(t *testing.T) {
	const takes = 3
	forBoth(t, "a member is recreated after its preStop hook and its process have ended", func(t *testing.T, k kind) {
		s := newSet(t, k, 1, func(made *v1.StatefulSet) {
			pod := &made.Spec.Template.Spec
			pod.TerminationGracePeriodSeconds = new(int64(30))
			pod.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: takes}}}
		})
		before := s.pod(t, 0)
		events, err := cluster.Host.CoreV1().Pods(s.ns).Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.ResourceVersion})
		if err != nil {
			t.Fatalf("watching: %v", err)
		}
		defer events.Stop()
		asked := time.Now()
		if err := cluster.Host.CoreV1().Pods(s.ns).Delete(t.Context(), before.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting the member: %v", err)
		}
		var ended time.Time
		for next := range eventsFor(t, events) {
			pod, _ := next.Object.(*corev1.Pod)
			if pod != nil && pod.UID == before.UID && next.Type == watch.Deleted {
				ended = time.Now()
			}
			if pod != nil && pod.UID != before.UID {
				if ended.IsZero() {
					t.Errorf("another pod was there before the first was gone")
				}
				break
			}
		}
		if took := ended.Sub(asked); took < takes*second {
			t.Errorf("the pod was gone %s after it was asked to end: want at least the %ds of its hook", took, takes)
		}
		s.awaitReady(t, 1)
	})
}

// eventsFor are the events of a watch, until the suite's patience ends.
func eventsFor(t *testing.T, events watch.Interface) func(yield func(watch.Event) bool) {
	return func(yield func(watch.Event) bool) {
		patience := time.After(harness.Patience)
		for {
			select {
			case event, open := <-events.ResultChan():
				if !open {
					t.Fatal("the watch has ended")
				}
				if !yield(event) {
					return
				}
			case <-patience:
				t.Fatal(fmt.Errorf("nothing more was seen in %s", harness.Patience))
			}
		}
	}
}
