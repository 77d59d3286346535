// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

const (
	// turnLength is how long a sync may run before it must make room for another waiting set.
	turnLength = 500 * time.Millisecond
	// longestTurn is how long a sync begins writes if no other set waits. Then its status is
	// written, and the set is synced again.
	longestTurn = 5 * time.Second
)

// errTurnOver is the result of a write that did not begin because the turn of the sync is over.
var errTurnOver = errors.New("the turn of the set is over")

// turn is the time in which a sync may begin writes. Writes that run when it ends complete without
// a worker, so that a cluster that is slow for some sets does not delay the others. Nil stands for
// a turn without an end.
type turn struct {
	ended chan struct{}
	once  sync.Once
}

func newTurn() *turn { return &turn{ended: make(chan struct{})} }

func (t *turn) end() { t.once.Do(func() { close(t.ended) }) }

// over returns a channel that is closed when the turn is over.
func (t *turn) over() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.ended
}

func (t *turn) isOver() bool {
	select {
	case <-t.over():
		return true
	default:
		return false
	}
}

// work gives one set after the other its turn, until the queue is shut down. The queue returns no
// key that is still being processed: a set with running writes is not synced a second time.
func (t *term) work(ctx context.Context) {
	for {
		key, stopped := t.queue.Get()
		if stopped {
			return
		}
		turn, done := newTurn(), make(chan struct{})
		t.syncs.Go(func() {
			defer close(done)
			defer t.queue.Done(key)
			switch {
			case ctx.Err() != nil:
			case t.interruptedSets.isEvaluating(key):
				t.queue.AddAfter(key, t.config.RetryPeriod)
			default:
				t.syncAndRequeue(ctx, turn, key)
			}
		})
		t.awaitSync(klog.LoggerWithValues(klog.FromContext(ctx), "set", key), turn, done)
	}
}

// awaitSync waits until a sync is done. If another set needs the worker, it returns earlier, and
// the sync waits for its running writes without a worker.
func (t *term) awaitSync(logger klog.Logger, turn *turn, done <-chan struct{}) {
	ticker := t.config.Clock.NewTicker(turnLength)
	defer ticker.Stop()
	for began := t.config.Clock.Now(); ; {
		select {
		case <-done:
			return
		case <-ticker.C():
		}
		others := t.queue.Len() > 0
		if others || t.config.Clock.Since(began) >= longestTurn {
			turn.end()
		}
		if !others {
			continue
		}
		select {
		case t.detachedSyncs <- struct{}{}:
			logger.V(2).Info("Releasing the worker of a sync with running writes")
			t.syncs.Go(func() {
				<-done
				<-t.detachedSyncs
			})
			return
		default:
			// The maximum number of syncs runs without a worker already.
		}
	}
}
