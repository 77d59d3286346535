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

// changesKept is for how long at least a change is remembered: longer than a write takes, which may be
// refused for what was there when it began.
const changesKept = 2 * writeTimeout

// changes remembers when something last changed on which answers of the host depend, such as the
// policies of its admission. Each kind of object is watched from the first failure of a term on that
// may depend on it.
type changes struct {
	deciding []deciding
	begun    []sync.Once

	mu sync.Mutex
	// last is when a kind, by its place in deciding, last changed in a namespace, which is empty for all
	// of them. What is older than changesKept is dropped some time after.
	last  map[changeIn]time.Time
	swept time.Time
}

type changeIn struct {
	kind      int
	namespace string
}

func newChanges(host kubernetes.Interface) *changes {
	all := decidingKinds(host)
	return &changes{deciding: all, begun: make([]sync.Once, len(all)), last: map[changeIn]time.Time{}}
}

// since reports whether something has changed since a time on which an answer may depend that was
// given in a namespace.
func (c *changes) since(answer error, namespace string, began time.Time) bool {
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

// note remembers a change.
func (c *changes) note(kind int, namespace string, now time.Time) {
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

// watchChanges begins to watch the kinds on which an answer may depend, if nothing has yet. A change
// may have come before the first list of a kind, so that counts as a change, too.
func (t *term) watchChanges(ctx context.Context, answer error) {
	for i := range t.changes.deciding {
		kind := &t.changes.deciding[i]
		if !kind.concerns(answer) {
			continue
		}
		t.changes.begun[i].Do(func() {
			informer := kind.inform()
			err := informer.SetTransform(func(object any) (any, error) { return kind.trim(object), nil })
			if err == nil {
				err = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
					klog.FromContext(ctx).V(2).Info("Watching what decides about refused requests failed", "kind", kind.name, "err", err)
				})
			}
			if err != nil {
				panic("preparing the informer of " + kind.name + ": " + err.Error()) // it has not begun
			}
			// It fails only for an informer that has stopped.
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

// changeHandler has those sets synced for which a change may be what they wait for.
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

// changed notes a change, and has the sets synced that may wait for it: all of them if the namespace is
// empty.
func (t *term) changed(i int, namespace string) {
	t.changes.note(i, namespace, t.Clock.Now())
	for _, known := range t.memory.all() {
		if (namespace == "" || known.key.Namespace == namespace) && known.failedSo(t.changes.deciding[i].concerns) {
			t.queue.Add(known.key)
		}
	}
}

// isRefusedByConfiguration reports whether the answer to a request may depend on what admission is
// configured to do.
func isRefusedByConfiguration(answer error) bool {
	return isAboutRequest(answer) && !apierrors.IsUnauthorized(answer)
}
