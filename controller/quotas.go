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

// roomInterval is how often room in the quotas of a namespace makes the controller retry, at most:
// where pods come and go, room appears all the time.
const roomInterval = 4 * time.Second

// roomKept is the minimum time for which the controller remembers that a namespace got room,
// although no set waits for it. It is longer than a write takes, because a write may be refused for
// the usage at its beginning.
const roomKept = 2 * writeTimeout

// quotas remembers when the quotas of each namespace last got room. A term starts to watch quotas
// after the first refusal that one of them caused.
type quotas struct {
	informer cache.SharedIndexInformer
	begin    sync.Once

	mu sync.Mutex
	// room is when a namespace got room. It is in the future if the namespace has room now and had
	// it just before. A namespace in which no set waits is dropped eventually.
	room map[string]time.Time
	// swept is when namespaces were last dropped.
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

// watchQuotas starts to watch quotas, unless they are watched already.
func (t *term) watchQuotas(ctx context.Context) {
	t.quotas.begin.Do(func() {
		// This fails only for an informer that has stopped.
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

// hasMoreRoom reports whether the limit of some resource leaves more room than before, or no longer
// exists.
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

// wakeForRoom makes the sets of a namespace that wait for room retry.
func (t *term) wakeForRoom(namespace string) {
	t.quotas.sweep(t.config.Clock.Now(), t.states)
	at, news := t.quotas.gotRoom(namespace, t.config.Clock.Now())
	if !news {
		return
	}
	for _, state := range t.states.all() {
		if state.key.Namespace == namespace && state.failedSo(isQuota) {
			t.queue.AddAfter(state.key, at.Sub(t.config.Clock.Now()))
		}
	}
}

// sweep drops, from time to time, the namespaces in which no set waits: a cluster may have any
// number of namespaces in which pods come and go.
func (q *quotas) sweep(now time.Time, memory *setStates) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Sub(q.swept) < roomKept {
		return
	}
	q.swept = now
	waiting := map[string]bool{}
	for _, state := range memory.all() {
		if state.failedSo(isQuota) {
			waiting[state.key.Namespace] = true
		}
	}
	maps.DeleteFunc(q.room, func(namespace string, at time.Time) bool { return !waiting[namespace] && now.Sub(at) >= roomKept })
}

// gotRoom records room, and returns from when on it counts, and whether that was not known yet.
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

// roomFor reports whether an attempt was refused by a quota that has got room since the attempt
// began.
func (e *execution) roomFor(p pace) bool {
	if !isQuota(p.err) {
		return false
	}
	e.term.quotas.mu.Lock()
	defer e.term.quotas.mu.Unlock()
	room := e.term.quotas.room[e.key.Namespace]
	return !room.Before(p.began) && !room.After(e.term.config.Clock.Now())
}

// handleQuotaRefusal makes sure that the controller notices room in a quota, also room that
// appeared while the cluster was refusing the request.
func (e *execution) handleQuotaRefusal(ctx context.Context, p *pace) {
	if !isQuota(p.err) {
		return
	}
	e.term.watchQuotas(ctx)
	if e.roomFor(*p) {
		p.delay = shortageBackoff
		p.until = p.at.Add(p.delay)
	}
}
