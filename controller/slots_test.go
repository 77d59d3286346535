// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/window"
)

// granted asks for n slots for a set, and returns how many it gets at once.
func granted(s *slots, set string, n int) int {
	got := 0
	for range n {
		select {
		case <-s.ask(cache.NewObjectName("shop", set)).granted:
			got++
		default:
		}
	}
	return got
}

// wideWindow is that of a host which is never too slow.
func wideWindow() *window.Window { return window.New(writesAtOnce, writesAtOnce, writesAtOnce) }

func TestSlotsAreSharedByHowManyWantThem(t *testing.T) {
	cases := map[string]struct{ sets, asked, wantEach, wantLater int }{
		"one set gets as many as a set may have":           {1, 1000, writesPerSet, writesPerSet},
		"ten sets do":                                      {10, writesPerSet, writesPerSet, writesPerSet},
		"forty leave some for one that comes later":        {40, 5, 5, 5},
		"as many as there are slots get one, none is left": {writesAtOnce, 1, 1, 0},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			s, all := newSlots(writesAtOnce, wideWindow()), 0
			for i := range test.sets {
				all += granted(s, fmt.Sprint(i), test.asked)
			}
			if want := test.sets * test.wantEach; all != want {
				t.Errorf("got %d slots for %d sets, want %d", all, test.sets, want)
			}
			if got := granted(s, "late", max(test.wantLater, 1)); got != test.wantLater {
				t.Errorf("got %d slots for a set that comes later, want %d", got, test.wantLater)
			}
		})
	}
}

func TestSlotsThatAreGivenBackGoToWhoHasFewest(t *testing.T) {
	s := newSlots(3, wideWindow())
	greedy, modest, late := cache.NewObjectName("shop", "greedy"), cache.NewObjectName("shop", "modest"), cache.NewObjectName("shop", "late")
	given := s.ask(modest)
	if got := granted(s, "greedy", 1) + granted(s, "third", 1); got != 2 {
		t.Fatalf("got %d slots, want 2", got)
	}
	another, first := s.ask(greedy), s.ask(late)
	s.give(given)
	select {
	case <-first.granted:
	default:
		t.Error("got no slot for the set that has none, want it to be served before the one that asked earlier and has one")
	}
	select {
	case <-another.granted:
		t.Error("got a second slot for a set while none is left, want none")
	default:
	}
}

func TestWaitingForASlotEndsWithTheTurnAndWithTheTerm(t *testing.T) {
	key := cache.NewObjectName("shop", "web")
	over, running := newTurn(), newTurn()
	over.end()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for sentence, test := range map[string]struct {
		ctx  context.Context
		turn *turn
		want error
	}{
		"the turn is over": {t.Context(), over, errTurnOver},
		"the term is over": {ended, running, errTermOver},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newSlots(1, wideWindow())
			taken, err := s.take(t.Context(), nil, key)
			if err != nil {
				t.Fatalf("taking the only slot: %v", err)
			}
			if _, err := s.take(test.ctx, test.turn, key); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			s.give(taken)
			if len(s.sets) != 0 || s.free != 1 || s.worked != 0 {
				t.Errorf("got %d sets remembered, %d slots free and %d worked on, want 0, 1 and 0", len(s.sets), s.free, s.worked)
			}
		})
	}
}

func TestAWriteThatHangsMakesRoomInTheWindowAndNotInTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(40, window.New(4, 4, 4))
		if got := granted(s, "hanging", 3) + granted(s, "other", 10); got != 4 {
			t.Fatalf("got %d slots, want 4: the window", got)
		}
		time.Sleep(window.Patience + time.Millisecond)
		synctest.Wait()
		if s.worked != 4 || s.free != 32 {
			t.Errorf("after %s got %d writes that count and %d slots free, want 4 more writes begun, so 4 and 32", window.Patience, s.worked, s.free)
		}
		time.Sleep(10 * window.Patience)
		synctest.Wait()
		if got := granted(s, "late", 1); got != 1 || s.free < 0 {
			t.Errorf("got %d slots for a set that comes later with %d left, want 1", got, s.free)
		}
	})
}

func TestAHostThatIsTooBusyIsGivenLess(t *testing.T) {
	s := newSlots(writesAtOnce, window.New(leastWindow, firstWindow, writesAtOnce))
	taken, err := s.take(t.Context(), nil, cache.NewObjectName("shop", "web"))
	if err != nil {
		t.Fatalf("taking a slot: %v", err)
	}
	if got := s.answered(taken, apierrors.NewTooManyRequests("busy", 1)); got != firstWindow/2 {
		t.Errorf("got a window of %d after a 429, want %d", got, firstWindow/2)
	}
	s.give(taken)
}

func TestAWriteThatEndsAsItsPatienceDoesCountsOnce(t *testing.T) {
	s, key := newSlots(writesAtOnce, wideWindow()), cache.NewObjectName("shop", "web")
	late := s.ask(key)
	s.ask(key)
	s.give(late)
	s.age(late) // its timer ran out while the slot was given back
	if s.worked != 1 {
		t.Errorf("got %d writes that the host works on, want 1", s.worked)
	}
}
