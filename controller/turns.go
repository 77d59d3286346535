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
	// turnLength is after how long a sync has to make room if another set waits.
	turnLength = 500 * time.Millisecond
	// longestTurn is for how long a sync begins writes although nobody waits. Then its
	// status is written, and the set is looked at anew.
	longestTurn = 5 * time.Second
)

// errTurnOver is what a write returns that was not begun because the sync has had
// its turn.
var errTurnOver = errors.New("the turn of the set is over")

// turn is the time in which a sync may begin writes. Those under way when it ends
// come to their own end without a worker, so that a host that keeps some sets waiting
// does not keep the others. Nil stands for a turn without an end.
type turn struct {
	ended chan struct{}
	once  sync.Once
}

func newTurn() *turn { return &turn{ended: make(chan struct{})} }

func (t *turn) end() { t.once.Do(func() { close(t.ended) }) }

// over is closed when the turn is.
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

// work gives one set after the other its turn, until the queue is shut down. The
// queue hands out no key that was not given back: a set whose writes are under way is
// not synced a second time.
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
			case t.suspects.has(key):
				t.queue.AddAfter(key, t.RetryPeriod)
			default:
				t.syncAndRequeue(ctx, turn, key)
			}
		})
		t.attend(klog.LoggerWithValues(klog.FromContext(ctx), "set", key), turn, done)
	}
}

// attend waits until a sync is done, or until it is left alone with the writes that it
// has under way because another set waits for the worker.
func (t *term) attend(logger klog.Logger, turn *turn, done <-chan struct{}) {
	ticker := t.Clock.NewTicker(turnLength)
	defer ticker.Stop()
	for began := t.Clock.Now(); ; {
		select {
		case <-done:
			return
		case <-ticker.C():
		}
		others := t.queue.Len() > 0
		if others || t.Clock.Since(began) >= longestTurn {
			turn.end()
		}
		if !others {
			continue
		}
		select {
		case t.unattended <- struct{}{}:
			logger.V(2).Info("Leaving a sync alone with its writes under way")
			t.syncs.Go(func() {
				<-done
				<-t.unattended
			})
			return
		default:
			// As many as may are left alone already.
		}
	}
}
