//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

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
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"statefulset.dev/test/harness"
)

// journal writes down, in their order, the creations and removals of the pods of a
// namespace from the moment it is opened.
type journal struct {
	mu      sync.Mutex
	entries []string
}

func watchPods(t *testing.T, ns string) *journal {
	t.Helper()
	pods := suite.Host.CoreV1().Pods(ns)
	list, err := pods.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(t.Context(), list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return pods.Watch(ctx, options)
		},
	})
	if err != nil {
		t.Fatalf("watching pods: %v", err)
	}
	t.Cleanup(watcher.Stop)
	j := &journal{}
	go func() {
		for event := range watcher.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok || (event.Type != watch.Added && event.Type != watch.Deleted) {
				continue
			}
			j.mu.Lock()
			j.entries = append(j.entries, strings.ToLower(string(event.Type))+" "+pod.Name)
			j.mu.Unlock()
		}
	}()
	return j
}

// mark returns a place in the journal: entries from there on are the new ones.
func (j *journal) mark() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}

func (j *journal) since(mark int) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries[mark:])
}

// expect waits until as many entries are there as are wanted, and compares them.
func (j *journal) expect(t *testing.T, mark int, want ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d things have happened to pods", len(want)), func(context.Context) error {
		if got := j.since(mark); len(got) < len(want) {
			return fmt.Errorf("so far %v", got)
		}
		return nil
	})
	if got := j.since(mark); !slices.Equal(got, want) {
		t.Errorf("pods came and went in the order\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
