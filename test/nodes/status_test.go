//go:build nodes

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// awaitReason waits until the condition Ready of a set of ours gives a reason, and says some
// words, of its present spec.
func (s *set) awaitReason(t *testing.T, reason, words string) (found *v1.StatefulSet) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("the set says %s: %s", reason, words), func(ctx context.Context) error {
		var err error
		if found, err = cluster.Sets.AppsV1().StatefulSets(s.ns).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if found.Status.ObservedGeneration != found.Generation {
			return fmt.Errorf("generation %d is not observed", found.Generation)
		}
		at := slices.IndexFunc(found.Status.Conditions, func(c v1.StatefulSetCondition) bool { return c.Type == v1.StatefulSetReady })
		if at < 0 {
			return fmt.Errorf("it has the conditions %v", found.Status.Conditions)
		}
		if c := found.Status.Conditions[at]; c.Reason != reason || !strings.Contains(c.Message, words) {
			return fmt.Errorf("it says %s: %s", c.Reason, c.Message)
		}
		return nil
	})
	return found
}

// journal is what has happened to pods of a namespace, such as "web-2 went".
type journal struct {
	mu      sync.Mutex
	entries []string
}

// watchPods begins a journal.
func (s *set) watchPods(t *testing.T) *journal {
	t.Helper()
	pods := cluster.Host.CoreV1().Pods(s.ns)
	list, err := pods.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	events, err := pods.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatalf("watching pods: %v", err)
	}
	t.Cleanup(events.Stop)
	j := &journal{}
	go func() {
		words := map[watch.EventType]string{watch.Added: " came", watch.Deleted: " went"}
		for event := range events.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok && words[event.Type] != "" {
				j.mu.Lock()
				j.entries = append(j.entries, pod.Name+words[event.Type])
				j.mu.Unlock()
			}
		}
	}()
	return j
}

// await waits until so much has happened, and returns what has.
func (j *journal) await(t *testing.T, n int) (entries []string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d things have happened to pods", n), func(context.Context) error {
		j.mu.Lock()
		defer j.mu.Unlock()
		if entries = slices.Clone(j.entries); len(entries) < n {
			return fmt.Errorf("so far %v", entries)
		}
		return nil
	})
	return entries
}

// expect waits until as much has happened as is wanted, and compares it.
func (j *journal) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := j.await(t, len(want)); !slices.Equal(got, want) {
		t.Errorf("pods came and went in the order\n%v\nwant\n%v", got, want)
	}
}

// recreations are what happens when members are recreated one after the other.
func recreations(members ...string) (all []string) {
	for _, member := range members {
		all = append(all, member+" went", member+" came")
	}
	return all
}
