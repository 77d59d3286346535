// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"statefulset.dev/window"
)

const (
	// writesAtOnce limits how many writes to the cluster run at the same time.
	writesAtOnce = 256
	// firstWindow is how many of them the cluster may process at the same time at first,
	// leastWindow how many if it is as slow as possible. Beyond 16 clients, a small cluster does
	// not create pods faster.
	firstWindow = 16
	leastWindow = 4
	// writesPerSet limits the running writes of one set.
	writesPerSet = 16
	// leaveFree is how many slots must be free for each slot that a set has.
	leaveFree = 4
)

// slots are reserved by writes to the cluster. The window decides how many writes the cluster may
// process at the same time. A write that takes longer than the window's patience no longer counts,
// and the other sets do not wait for it. A set that has slots gets another one only if four times
// as many are free, so that sets whose writes hang do not use up all slots. The set with the fewest
// slots is served first.
type slots struct {
	window *window.Window

	mu sync.Mutex
	// free is how many more writes may begin, worked how many the cluster is processing.
	free, worked int
	sets         map[cache.ObjectName]*share
	// asked numbers the requests for slots, to order those that wait.
	asked int
}

// share is what one set has and waits for.
type share struct {
	used    int
	waiting []*slot
}

// slot is requested, granted, and returned.
type slot struct {
	key     cache.ObjectName
	order   int
	granted chan struct{}

	began time.Time
	// old is true once the write no longer counts as being processed: it has outlasted the
	// patience, or has ended.
	old   bool
	aging *time.Timer
}

func newSlots(n int, window *window.Window) *slots {
	return &slots{free: n, window: window, sets: map[cache.ObjectName]*share{}}
}

// take waits for a slot until the turn or the context ends. The caller must return the slot.
func (s *slots) take(ctx context.Context, turn *turn, key cache.ObjectName) (*slot, error) {
	asked := s.ask(key)
	select {
	case <-asked.granted:
		return asked, nil
	default:
	}
	var err error
	select {
	case <-asked.granted:
		return asked, nil
	case <-turn.over():
		err = errTurnOver
	case <-ctx.Done():
		err = errTermOver
	}
	s.withdraw(asked)
	return nil, err
}

// ask returns a slot that belongs to the set once its channel is closed.
func (s *slots) ask(key cache.ObjectName) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sets[key] == nil {
		s.sets[key] = &share{}
	}
	s.asked++
	asked := &slot{key: key, order: s.asked, granted: make(chan struct{})}
	s.sets[key].waiting = append(s.sets[key].waiting, asked)
	s.grant()
	return asked
}

// answered records the answer of the cluster to a write, with the error, if any. It returns how
// many writes the cluster may process from now on.
func (s *slots) answered(taken *slot, err error) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window.Record(window.Answer{Began: taken.began, Ended: time.Now(), Err: err, Full: s.worked >= s.window.Size()})
	return s.window.Size()
}

func (s *slots) give(taken *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(taken)
}

func (s *slots) release(taken *slot) {
	taken.aging.Stop()
	if !taken.old {
		s.worked--
		taken.old = true // its timer may just have fired
	}
	s.free++
	s.sets[taken.key].used--
	s.drop(taken.key)
	s.grant()
}

// withdraw cancels a request for a slot, and returns the slot if it was granted meanwhile.
func (s *slots) withdraw(asked *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share := s.sets[asked.key]
	if i := slices.Index(share.waiting, asked); i >= 0 {
		share.waiting = slices.Delete(share.waiting, i, i+1)
		s.drop(asked.key)
		return
	}
	s.release(asked)
}

func (s *slots) drop(key cache.ObjectName) {
	if share := s.sets[key]; share.used == 0 && len(share.waiting) == 0 {
		delete(s.sets, key)
	}
}

// grant hands out slots while a set may have one.
func (s *slots) grant() {
	for next := s.next(); next != nil; next = s.next() {
		first := next.waiting[0]
		next.waiting = next.waiting[1:]
		next.used++
		s.free--
		s.worked++
		first.began = time.Now()
		first.aging = time.AfterFunc(window.Patience, func() { s.age(first) })
		close(first.granted)
	}
}

// age lets another write begin next to one that has outlasted the patience.
func (s *slots) age(taken *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken.old {
		return
	}
	taken.old = true
	s.worked--
	s.grant()
}

// next is the set to serve next, nil if there is none: of the sets that may have a slot, the one
// that has the fewest, and among equals the one that has waited longest.
func (s *slots) next() *share {
	if s.worked >= s.window.Size() {
		return nil
	}
	var next *share
	for _, share := range s.sets {
		if len(share.waiting) == 0 || !s.mayHaveAnother(share) {
			continue
		}
		if next == nil || share.used < next.used || share.used == next.used && share.waiting[0].order < next.waiting[0].order {
			next = share
		}
	}
	return next
}

func (s *slots) mayHaveAnother(share *share) bool {
	switch {
	case s.free == 0 || share.used >= writesPerSet:
		return false
	default:
		return share.used == 0 || leaveFree*share.used <= s.free
	}
}
