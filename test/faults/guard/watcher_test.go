//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	v1 "statefulset.dev/api/apps/v1"
	typed "statefulset.dev/client/clientset/versioned/typed/apps/v1"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

// findings are the lies that clients were told about a set that is there, and what was
// lost by them.
type findings struct{ deleted, incomplete, older, absent, open, lost int }

func (f *findings) add(more findings) {
	f.deleted += more.deleted
	f.incomplete += more.incomplete
	f.older += more.older
	f.absent += more.absent
	f.open += more.open
	f.lost += more.lost
}

func (f *findings) total() int {
	return f.deleted + f.incomplete + f.older + f.absent + f.open + f.lost
}

func (f *findings) String() string {
	return fmt.Sprintf(
		"%d DELETED, %d complete lists without the set, %d answers with another UID, %d that it is not there, %d watches left open, %d times members lost",
		f.deleted, f.incomplete, f.older, f.absent, f.open, f.lost)
}

// watcher watches a set on one server.
type watcher struct {
	sets typed.StatefulSetInterface
	set  *v1.StatefulSet

	watching sync.WaitGroup
	mu       sync.Mutex
	told     findings
}

func newWatcher(t *testing.T, x *exchanges, server *lab.Process) *watcher {
	t.Helper()
	config := x.Direct("https://127.0.0.1:" + server.Port())
	config.QPS = -1
	return &watcher{sets: clientFor(t, config).AppsV1().StatefulSets(x.m.Namespace), set: x.m.Set}
}

// open returns when each of many watches has seen the set.
func (w *watcher) open(ctx context.Context, n int) {
	var seen sync.WaitGroup
	for i := range n {
		options := metav1.ListOptions{ResourceVersion: "0"}
		if i%2 == 0 {
			options = watchList()
		}
		seen.Add(1)
		w.watching.Go(func() { w.follow(ctx, options, sync.OnceFunc(seen.Done)) })
	}
	seen.Wait()
}

func watchList() metav1.ListOptions {
	return metav1.ListOptions{
		SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
}

// follow reads a watch to its end.
func (w *watcher) follow(ctx context.Context, options metav1.ListOptions, seen func()) {
	defer seen()
	stream, err := w.sets.Watch(ctx, options)
	if err != nil {
		return
	}
	defer stream.Stop()
	there := false
	for event := range stream.ResultChan() {
		set, ok := event.Object.(*v1.StatefulSet)
		switch {
		case !ok:
			return
		case event.Type == watch.Bookmark:
			if set.Annotations[metav1.InitialEventsAnnotationKey] == "true" && !there {
				w.tell(findings{incomplete: 1})
			}
		case event.Type == watch.Deleted:
			w.tell(findings{deleted: 1})
		case set.UID != w.set.UID:
			w.tell(findings{older: 1})
		default:
			there = true
			seen()
		}
	}
}

func (w *watcher) tell(what findings) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told.add(what)
}

// askUntilRefused reads, lists and opens watch-lists until the server refuses all.
func (w *watcher) askUntilRefused(ctx context.Context) {
	for ctx.Err() == nil {
		w.watching.Go(func() { w.follow(ctx, watchList(), func() {}) })
		set, err := w.sets.Get(ctx, w.set.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			w.tell(findings{absent: 1})
		case err == nil && set.UID != w.set.UID:
			w.tell(findings{older: 1})
		}
		list, listErr := w.sets.List(ctx, metav1.ListOptions{})
		switch {
		case listErr != nil:
		case len(list.Items) == 0:
			w.tell(findings{incomplete: 1})
		case list.Items[0].UID != w.set.UID:
			w.tell(findings{older: 1})
		}
		if apierrors.IsServiceUnavailable(err) && apierrors.IsServiceUnavailable(listErr) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// wait returns what was told when all watches have ended, as they must.
func (w *watcher) wait(ctx context.Context, t *testing.T) findings {
	t.Helper()
	w.watching.Wait()
	if ctx.Err() != nil {
		w.tell(findings{open: 1})
		t.Errorf("watches of a server whose store was exchanged: still open after %s, want them closed", harness.Patience)
	}
	return w.told
}
