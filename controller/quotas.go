// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/hostread"
)

// roomInterval is how often at most room in the quotas of a namespace is taken for a
// reason to ask the host again: where pods come and go, it appears all the time.
const roomInterval = 4 * time.Second

// roomKept is for how long at least it is remembered that a namespace has had room
// although nobody waits for it: longer than a write takes, which may be refused for what
// was there when it began.
const roomKept = 2 * writeTimeout

// quotas remembers when the quotas of each namespace last got room. Quotas are watched
// from the first refusal of a term on that one of them caused.
type quotas struct {
	informer cache.SharedIndexInformer
	begin    sync.Once

	mu sync.Mutex
	// room is when a namespace had room; in the future if it has it now and had it just
	// before. A namespace in which nobody waits is dropped some time after.
	room map[string]time.Time
	// swept is when that was done last.
	swept time.Time
}

func newQuotas(host kubernetes.Interface) *quotas {
	informer := coreinformers.NewResourceQuotaInformer(host, metav1.NamespaceAll, 0, cache.Indexers{})
	if err := informer.SetTransform(trimQuota); err != nil {
		panic("setting the transform of quotas: " + err.Error())
	}
	return &quotas{informer: informer, room: map[string]time.Time{}}
}

func trimQuota(object any) (any, error) {
	quota, ok := object.(*corev1.ResourceQuota)
	if !ok {
		return object, nil
	}
	return &corev1.ResourceQuota{ObjectMeta: hostread.TrimMeta(&quota.ObjectMeta), Status: quota.Status}, nil
}

// watchQuotas begins to watch quotas, if nobody has yet.
func (t *term) watchQuotas(ctx context.Context) {
	t.quotas.begin.Do(func() {
		// It fails only for an informer that has stopped.
		_, _ = t.quotas.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(object, newer any) {
				before, _ := object.(*corev1.ResourceQuota)
				after, ok := newer.(*corev1.ResourceQuota)
				if ok && hasMoreRoom(before.Status, after.Status) {
					t.wakeForRoom(after.Namespace)
				}
			},
			DeleteFunc: func(object any) {
				if quota, ok := hostread.LastState(object).(*corev1.ResourceQuota); ok {
					t.wakeForRoom(quota.Namespace)
				}
			},
		})
		t.syncs.Go(func() { t.quotas.informer.RunWithContext(ctx) })
	})
}

// hasMoreRoom reports whether some resource is limited less than before, or not at all.
func hasMoreRoom(before, after corev1.ResourceQuotaStatus) bool {
	for name := range before.Hard {
		hard, limited := after.Hard[name]
		if !limited {
			return true
		}
		hard.Sub(after.Used[name])
		earlier := before.Hard[name]
		earlier.Sub(before.Used[name])
		if hard.Cmp(earlier) > 0 {
			return true
		}
	}
	return false
}

// wakeForRoom makes the sets of a namespace that wait for room ask the host again.
func (t *term) wakeForRoom(namespace string) {
	t.quotas.sweep(t.Clock.Now(), t.memory)
	at, news := t.quotas.gotRoom(namespace, t.Clock.Now())
	if !news {
		return
	}
	for _, known := range t.memory.all() {
		if known.key.Namespace == namespace && known.failedSo(isQuota) {
			t.queue.AddAfter(known.key, at.Sub(t.Clock.Now()))
		}
	}
}

// sweep drops, now and then, the namespaces in which nobody waits: a cluster may have any
// number in which pods come and go.
func (q *quotas) sweep(now time.Time, memory *memory) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.swept) < roomKept {
		return
	}
	q.swept = now
	waiting := map[string]bool{}
	for _, known := range memory.all() {
		if known.failedSo(isQuota) {
			waiting[known.key.Namespace] = true
		}
	}
	maps.DeleteFunc(q.room, func(namespace string, at time.Time) bool { return !waiting[namespace] && now.Sub(at) >= roomKept })
}

// gotRoom notes room, and returns from when on it counts, and whether that is news.
func (q *quotas) gotRoom(namespace string, now time.Time) (at time.Time, news bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	last := q.room[namespace]
	switch {
	case last.After(now):
		return last, false
	case now.Sub(last) < roomInterval:
		at = last.Add(roomInterval)
	default:
		at = now
	}
	q.room[namespace] = at
	return at, true
}

// roomFor reports whether an attempt was refused by a quota that has got room since it
// was begun.
func (e *execution) roomFor(p pace) bool {
	if !isQuota(p.err) {
		return false
	}
	e.term.quotas.mu.Lock()
	defer e.term.quotas.mu.Unlock()
	room := e.term.quotas.room[e.key.Namespace]
	return !room.Before(p.began) && !room.After(e.term.Clock.Now())
}

// mindRefusal sees to it that room in a quota is noticed, and that room which came
// while the host refused is not overlooked.
func (e *execution) mindRefusal(ctx context.Context, p *pace) {
	if !isQuota(p.err) {
		return
	}
	e.term.watchQuotas(ctx)
	if e.roomFor(*p) {
		p.delay = shortageBackoff
		p.until = p.at.Add(p.delay)
	}
}
