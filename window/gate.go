// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Gate admits as many callers at a time as its window allows, in the order in which they arrive.
type Gate struct {
	window *Window

	mu      sync.Mutex
	through int
	waiting []chan struct{}
}

// NewGate returns a gate that has admitted no caller.
func NewGate(window *Window) *Gate { return &Gate{window: window} }

// Enter waits until the gate admits the caller, or returns the error of the context when it ends.
// After the request, the caller must call leave with its error.
func (g *Gate) Enter(ctx context.Context) (leave func(error), err error) {
	turn := g.queue()
	select {
	case <-turn:
	case <-ctx.Done():
		g.giveUp(turn)
		return nil, ctx.Err()
	}
	began := time.Now()
	return func(err error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.window.Record(Answer{Began: began, Ended: time.Now(), Err: err, Full: g.through >= g.window.Size()})
		g.through--
		g.admit()
	}, nil
}

func (g *Gate) queue() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	turn := make(chan struct{})
	g.waiting = append(g.waiting, turn)
	g.admit()
	return turn
}

// giveUp withdraws a caller that waits. If the gate has already admitted it, it admits the next one
// instead.
func (g *Gate) giveUp(turn chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, turn); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		return
	}
	g.through--
	g.admit()
}

func (g *Gate) admit() {
	for len(g.waiting) > 0 && g.through < g.window.Size() {
		close(g.waiting[0])
		g.waiting = g.waiting[1:]
		g.through++
	}
}
