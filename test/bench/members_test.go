//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// members watches the pods of a namespace. Its lists only grow: they hold the times at
// which a pod was seen for the first time, to be ready for the first time, and to be
// gone.
type members struct {
	mu      sync.Mutex
	created []time.Time
	ready   []time.Time
	gone    []time.Time
	// seen is when the first pod of a name was seen.
	seen  map[string]time.Time
	known map[types.UID]bool
	// ended is why nothing more will be seen.
	ended error
	stir  chan struct{}
}

func watchMembers(t *testing.T, host kubernetes.Interface, namespace string) *members {
	t.Helper()
	m := &members{seen: map[string]time.Time{}, known: map[types.UID]bool{}, stir: make(chan struct{})}
	list, err := host.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	// It goes on where it was when the host ends it, as it does with watchers that are slow.
	watcher, err := watchtools.NewRetryWatcherWithContext(t.Context(), list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return host.CoreV1().Pods(namespace).Watch(ctx, options)
		},
	})
	if err != nil {
		t.Fatalf("watching pods: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			m.see(event, time.Now())
		}
		m.end(fmt.Errorf("the watch of pods in namespace %s has ended", namespace))
	}()
	t.Cleanup(func() {
		watcher.Stop()
		<-done
	})
	return m
}

func (m *members) see(event watch.Event, now time.Time) {
	if event.Type == watch.Bookmark {
		return
	}
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		m.end(fmt.Errorf("watching pods: got %T: %v", event.Object, event.Object))
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	wasReady, known := m.known[pod.UID]
	if !known {
		m.created = append(m.created, now)
		if _, ok := m.seen[pod.Name]; !ok {
			m.seen[pod.Name] = now
		}
	}
	m.known[pod.UID] = wasReady || isReady(pod)
	if !wasReady && m.known[pod.UID] {
		m.ready = append(m.ready, now)
	}
	if event.Type == watch.Deleted {
		m.gone = append(m.gone, now)
		delete(m.known, pod.UID)
	}
	close(m.stir)
	m.stir = make(chan struct{})
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (m *members) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = err
	close(m.stir)
	m.stir = make(chan struct{})
}

// await waits until a list has n times, and returns the last of these.
func (m *members) await(ctx context.Context, list *[]time.Time, n int) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		m.mu.Lock()
		times, ended, stir := *list, m.ended, m.stir
		m.mu.Unlock()
		if len(times) >= n {
			return times[n-1], nil
		}
		if ended != nil {
			return time.Time{}, ended
		}
		select {
		case <-stir:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("waiting for pod %d: there are %d: %w", n, len(times), ctx.Err())
		}
	}
}

// count is how long a list is by now.
func (m *members) count(list *[]time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(*list)
}

// seenAt is when the first pod of a name was seen.
func (m *members) seenAt(name string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen[name]
}
