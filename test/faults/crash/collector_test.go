//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness/lab"
)

// missedAfter is how long the garbage collector may leave a pod whose owner is gone.
const missedAfter = 20 * time.Second

// collector is the host's controller manager. Its garbage collector knows owners by
// their names between two lists: when its watch of our sets was broken while one was
// deleted and created again, it takes the new one for the old and never collects what
// the old has left. Only a new process finds it, so that is what the host gets.
type collector struct {
	*bench

	program lab.Program
	count   atomic.Int64
}

func startCollector(t *testing.T, b *bench, program lab.Program) *collector {
	t.Helper()
	c := &collector{bench: b, program: program}
	process := b.Start(t, program)
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		left := map[string]time.Time{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
			if !c.missed(left) {
				continue
			}
			clear(left)
			process.Kill(t)
			process = b.Launch(t, program)
			c.count.Add(1)
		}
	})
	t.Cleanup(func() {
		cancel()
		watching.Wait()
	})
	return c
}

// restarts is how often the collector had to be restarted.
func (c *collector) restarts() int64 { return c.count.Load() }

// missed reports whether a pod whose owner is gone has been left for too long. left
// remembers since when each is.
func (c *collector) missed(left map[string]time.Time) bool {
	late := false
	seen := map[string]bool{}
	for _, h := range c.world.followed() {
		o := h.observed()
		for i := range o.Pods {
			owner := metav1.GetControllerOf(&o.Pods[i])
			if owner == nil || o.Pods[i].DeletionTimestamp != nil || (o.Set != nil && o.Set.UID == owner.UID) {
				continue
			}
			uid := string(o.Pods[i].UID)
			seen[uid] = true
			if since, ok := left[uid]; !ok {
				left[uid] = time.Now()
			} else if time.Since(since) > missedAfter {
				late = true
			}
		}
	}
	for uid := range left {
		if !seen[uid] {
			delete(left, uid)
		}
	}
	return late
}
