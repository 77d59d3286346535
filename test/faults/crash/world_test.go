//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// world sees all that happens to the objects of the runs: in the host by watches that
// resume, and to our sets by a watch of their etcd, which no fault of a server breaks.
type world struct {
	mu        sync.Mutex
	histories map[string]*history
}

func watchWorld(t *testing.T, b *bench) *world {
	t.Helper()
	w := &world{histories: map[string]*history{}}
	core, apps := b.Host.CoreV1(), b.Host.AppsV1()
	w.watch(t, pods, core.Pods("").Watch)
	w.watch(t, claims, core.PersistentVolumeClaims("").Watch)
	w.watch(t, objects, core.ConfigMaps("").Watch)
	w.watch(t, secrets, core.Secrets("").Watch)
	w.watch(t, revisions, apps.ControllerRevisions("").Watch)
	w.watch(t, sets, apps.StatefulSets("").Watch)
	w.watchStore(t, b.etcd.URL)
	return w
}

func (w *world) watch(t *testing.T, kind string, begin func(context.Context, metav1.ListOptions) (watch.Interface, error)) {
	t.Helper()
	// A watch from now on begins with what there is; only its version matters here.
	first, err := begin(t.Context(), metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatalf("watching %s: %v", kind, err)
	}
	version := ""
	for event := range first.ResultChan() {
		if object, ok := event.Object.(metav1.Object); ok && event.Type == watch.Bookmark {
			version = object.GetResourceVersion()
			break
		}
	}
	first.Stop()
	watcher, err := watchtools.NewRetryWatcherWithContext(t.Context(), version, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return begin(ctx, options)
		},
	})
	if err != nil {
		t.Fatalf("watching %s from version %q: %v", kind, version, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range watcher.ResultChan() {
			object, ok := event.Object.(metav1.Object)
			if !ok {
				t.Errorf("the watch of %s has failed: %+v", kind, event.Object)
				continue
			}
			if builtIn, ok := event.Object.(*appsv1.StatefulSet); ok {
				if object, err = scenarios.Ours(builtIn); err != nil {
					t.Errorf("reading a built-in set: %v", err)
					continue
				}
			}
			if event.Type != watch.Bookmark {
				w.tell(kind, event.Type == watch.Deleted, object)
			}
		}
	}()
	t.Cleanup(func() {
		watcher.Stop()
		<-ended
	})
}

// watchStore watches our sets where they are stored.
func (w *world) watchStore(t *testing.T, url string) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatalf("connecting to the store: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	events := client.Watch(ctx, "/registry/statefulset.dev/", clientv3.WithPrefix(), clientv3.WithPrevKV())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for response := range events {
			for _, event := range response.Events {
				if err := w.tellStored(event); err != nil {
					t.Errorf("reading the store: %v", err)
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = client.Close()
	})
}

func (w *world) tellStored(event *clientv3.Event) error {
	if !strings.Contains(string(event.Kv.Key), "/statefulsets/") {
		return nil
	}
	value := event.Kv.Value
	if event.Type == clientv3.EventTypeDelete {
		value = event.PrevKv.Value
	}
	stored, err := decodeStored(value)
	if err != nil {
		return fmt.Errorf("key %s: %w", event.Kv.Key, err)
	}
	stored.ResourceVersion = strconv.FormatInt(event.Kv.ModRevision, 10)
	w.tell(sets, event.Type == clientv3.EventTypeDelete, stored)
	return nil
}

// decodeStored reads the form in which Kubernetes stores protobuf.
func decodeStored(value []byte) (*v1.StatefulSet, error) {
	raw, ok := strings.CutPrefix(string(value), "k8s\x00")
	if !ok {
		return nil, fmt.Errorf("it is not stored as protobuf: %.20q", value)
	}
	var wrapped runtime.Unknown
	if err := wrapped.Unmarshal([]byte(raw)); err != nil {
		return nil, fmt.Errorf("decoding its envelope: %w", err)
	}
	set := &v1.StatefulSet{}
	if err := set.Unmarshal(wrapped.Raw); err != nil {
		return nil, fmt.Errorf("decoding it: %w", err)
	}
	return set, nil
}

func (w *world) tell(kind string, gone bool, object metav1.Object) {
	w.mu.Lock()
	h := w.histories[object.GetNamespace()]
	w.mu.Unlock()
	if h != nil {
		h.add(kind, gone, object)
	}
}

// follow begins the history of a namespace.
func (w *world) follow(namespace string) *history {
	h := &history{live: map[string]map[string]metav1.Object{}, woken: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.histories[namespace] = h
	return h
}

// followed are all histories.
func (w *world) followed() []*history {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.histories))
}

// observed is what there is now.
func (h *history) observed() scenarios.Observed {
	h.mu.Lock()
	defer h.mu.Unlock()
	var o scenarios.Observed
	for _, object := range h.live[sets] {
		o.Set = object.(*v1.StatefulSet)
	}
	for _, object := range h.live[pods] {
		o.Pods = append(o.Pods, *object.(*corev1.Pod))
	}
	for _, object := range h.live[claims] {
		o.Claims = append(o.Claims, *object.(*corev1.PersistentVolumeClaim))
	}
	for _, object := range h.live[revisions] {
		o.Revisions = append(o.Revisions, *object.(*appsv1.ControllerRevision))
	}
	for _, object := range h.live[objects] {
		o.Objects = append(o.Objects, *object.(*corev1.ConfigMap))
	}
	for _, object := range h.live[secrets] {
		o.Secrets = append(o.Secrets, *object.(*corev1.Secret))
	}
	return o
}
