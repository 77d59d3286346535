// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// enter goes through the gate, which must let it.
func enter(t *testing.T, g *Gate) func(error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	leave, err := g.Enter(ctx)
	if err != nil {
		t.Fatalf("entering: got %v, want to be let through", err)
	}
	return leave
}

func TestAGateLetsThroughAsManyAsItsWindowSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(New(1, 2, 2))
		first, second := enter(t, g), enter(t, g)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the third of two: got %v, want the end of its context", err)
		}
		second(apierrors.NewTooManyRequests("busy", 1))
		if g.window.Size() != 1 {
			t.Errorf("after a 429 got a window of %d, want 1", g.window.Size())
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second of one: got %v, want the end of its context", err)
		}
		first(nil)
		enter(t, g)(nil)
		if g.through != 0 || len(g.waiting) != 0 {
			t.Errorf("got %d through and %d waiting, want nobody", g.through, len(g.waiting))
		}
	})
}

func TestWhoComesFirstEntersFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, order := NewGate(New(1, 1, 1)), make(chan int, 3)
		leave := enter(t, g)
		for i := range 3 {
			go func() {
				next, err := g.Enter(t.Context())
				if err != nil {
					return
				}
				order <- i
				next(nil)
			}()
			synctest.Wait()
		}
		leave(nil)
		for want := range 3 {
			if got := <-order; got != want {
				t.Errorf("got number %d, want %d", got, want)
			}
		}
	})
}
