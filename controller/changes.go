// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"statefulset.dev/controller/hostread"
)

// changesKept is the minimum time for which the controller remembers a change. It is longer than a
// write takes, because a write may be refused for what was configured when it began.
const changesKept = 2 * writeTimeout

// changes remembers when objects last changed that influence the cluster's answers, such as
// admission policies. A term starts to watch a kind of object after the first failure that may
// depend on it.
type changes struct {
	deciding []influencingKind
	begun    []sync.Once

	mu sync.Mutex
	// last is when objects of a kind (its index in deciding) last changed in a namespace; an empty
	// namespace stands for all. Entries that are older than changesKept are dropped eventually.
	last  map[changeIn]time.Time
	swept time.Time
}

type changeIn struct {
	kind      int
	namespace string
}

func newChanges(host kubernetes.Interface) *changes {
	all := influencingKinds(host)
	return &changes{deciding: all, begun: make([]sync.Once, len(all)), last: map[changeIn]time.Time{}}
}

// hasChangedSince reports whether an object on which an answer in a namespace may depend has
// changed since a time.
func (c *changes) hasChangedSince(answer error, namespace string, began time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.deciding {
		if !c.deciding[i].concerns(answer) {
			continue
		}
		for _, where := range []string{"", namespace} {
			if at, known := c.last[changeIn{i, where}]; known && !at.Before(began) {
				return true
			}
		}
	}
	return false
}

// record records a change.
func (c *changes) record(kind int, namespace string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.swept) >= changesKept {
		c.swept = now
		for in, at := range c.last {
			if now.Sub(at) >= changesKept {
				delete(c.last, in)
			}
		}
	}
	c.last[changeIn{kind, namespace}] = now
}

// watchChanges starts to watch the kinds on which an answer may depend, unless they are watched
// already. The first list of a kind counts as a change, because an object may have changed before
// that list.
func (t *term) watchChanges(ctx context.Context, answer error) {
	for i := range t.changes.deciding {
		kind := &t.changes.deciding[i]
		if !kind.concerns(answer) {
			continue
		}
		t.changes.begun[i].Do(func() {
			informer := kind.newInformer()
			err := informer.SetTransform(func(object any) (any, error) { return kind.trim(object), nil })
			if err == nil {
				err = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
					klog.FromContext(ctx).V(2).Info("Failed to watch objects on which refused requests depend", "kind", kind.name, "err", err)
				})
			}
			if err != nil {
				panic("preparing the informer of " + kind.name + ": " + err.Error()) // impossible before the informer starts
			}
			// This fails only for an informer that has stopped.
			handler, _ := informer.AddEventHandler(t.changeHandler(i))
			t.syncs.Go(func() { informer.RunWithContext(ctx) })
			t.syncs.Go(func() {
				if cache.WaitFor(ctx, "", handler.HasSyncedChecker()) {
					t.changed(i, "")
				}
			})
		})
	}
}

// changeHandler enqueues the sets that may be waiting for a change.
func (t *term) changeHandler(i int) cache.ResourceEventHandler {
	kind := &t.changes.deciding[i]
	report := func(before, after any) {
		if matters, namespace := kind.change(before, after); matters {
			t.changed(i, namespace)
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if !initial {
				report(nil, object)
			}
		},
		UpdateFunc: report,
		DeleteFunc: func(object any) { report(hostread.LastState(object), nil) },
	}
}

// changed records a change, and enqueues the sets that may be waiting for it. An empty namespace
// stands for all namespaces.
func (t *term) changed(i int, namespace string) {
	t.changes.record(i, namespace, t.config.Clock.Now())
	for _, state := range t.states.all() {
		if (namespace == "" || state.key.Namespace == namespace) && state.failedSo(t.changes.deciding[i].concerns) {
			t.queue.Add(state.key)
		}
	}
}

// isRefusedByConfiguration reports whether the answer to a request may depend on how admission is
// configured.
func isRefusedByConfiguration(answer error) bool {
	return isAboutRequest(answer) && !apierrors.IsUnauthorized(answer)
}
