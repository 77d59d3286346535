//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"statefulset.dev/test/harness/proxy"
)

// gather is how long a process that is to be killed goes on, so that other runs come
// to their own points and one death serves them all. No verdict depends on it.
const gather = 150 * time.Millisecond

// killer is a gate that has the controller killed at one point of every write. A
// write is known by its object and by how often that was written before, so that its
// repetition after the crash goes through.
type killer struct {
	point proxy.Point

	mu sync.Mutex
	// commits counts the successful writes of an object, struck are the writes that
	// had their crash.
	commits map[string]int
	struck  map[string]bool
	// playing are the namespaces that are not done, waiting those in which a write has
	// come to its point.
	playing, waiting map[string]bool
	// points counts, by namespace, the writes at which the process was killed.
	points map[string]int
	due    chan struct{}
	// free is closed when nobody is to die any more.
	free chan struct{}
	// dead is closed when the process that is waiting for its death has died. askers
	// has, for each write, that of the process which asked for it.
	dead   chan struct{}
	askers map[*proxy.Write]chan struct{}
}

func newKiller(point proxy.Point, runs []*run) *killer {
	k := &killer{point: point, commits: map[string]int{}, struck: map[string]bool{}, playing: map[string]bool{},
		waiting: map[string]bool{}, points: map[string]int{}, due: make(chan struct{}, 1), free: make(chan struct{}), dead: make(chan struct{}),
		askers: map[*proxy.Write]chan struct{}{}}
	for _, r := range runs {
		k.playing[r.namespace] = true
	}
	return k
}

// at is the gate. A write that has come to its point, and any that begins in the same
// namespace after it, is held until the process is dead.
func (k *killer) at(ctx context.Context, point proxy.Point, write *proxy.Write) {
	k.mu.Lock()
	if !k.playing[write.Namespace] {
		k.mu.Unlock()
		return
	}
	if point == proxy.Before {
		k.askers[write] = k.dead
	}
	key := write.Key()
	if point == proxy.Committed && write.OK {
		k.commits[key]++
	}
	number := k.commits[key]
	if point != proxy.Before && write.OK {
		number-- // its own
	}

	id := fmt.Sprintf("%s #%d", key, number)
	reached := point == k.point && !k.struck[id] && k.askers[write] == k.dead
	if reached {
		k.struck[id] = true
		k.waiting[write.Namespace] = true
		k.points[write.Namespace]++
		select {
		case k.due <- struct{}{}:
		default:
		}
	}
	held := (reached && point != proxy.Replied) || (point == proxy.Before && k.waiting[write.Namespace])
	dead := k.dead
	if point == proxy.Replied {
		delete(k.askers, write)
	}
	k.mu.Unlock()
	if !held {
		return
	}
	select {
	case <-dead:
		// The connection of the dead breaks a moment later; what it asked is dropped.
		<-ctx.Done()
	case <-k.free:
	case <-ctx.Done():
	}
}

// run has the process killed and started again, until the context ends, and returns
// how often.
func (k *killer) run(ctx context.Context, restart func()) int {
	deaths := 0
	for {
		select {
		case <-ctx.Done():
			return deaths
		case <-k.due:
		}
		k.gathered(ctx)
		if ctx.Err() != nil {
			return deaths
		}
		deaths++
		restart()
	}
}

// gathered returns when every run that plays has a write at its point, or when that
// takes too long.
func (k *killer) gathered(ctx context.Context) {
	deadline := time.After(gather)
	for !k.complete() {
		select {
		case <-ctx.Done():
			return
		case <-deadline:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (k *killer) complete() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.waiting) >= len(k.playing)
}

// died lets the next process begin. It is called between the two.
func (k *killer) died() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.dead)
	k.dead = make(chan struct{})
	clear(k.waiting)
	select {
	case <-k.due:
	default:
	}
}

// done leaves a namespace alone from now on.
func (k *killer) done(namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.playing, namespace)
	delete(k.waiting, namespace)
}

// total is how many writes had their crash.
func (k *killer) total() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	sum := 0
	for n := range maps.Values(k.points) {
		sum += n
	}
	return sum
}
