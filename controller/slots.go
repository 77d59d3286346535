// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/cache"
)

const (
	// writesAtOnce bounds the writes to the host that are under way.
	writesAtOnce = 256
	// writesPerSet bounds those of one set; beyond 16 clients a small host creates
	// pods no faster.
	writesPerSet = 16
	// leaveFree says how many slots have to be free for each that a set has.
	leaveFree = 4
)

// slots are taken by writes to the host. A set that has a slot gets another only if
// four times as many as it has are free, so that sets whose writes hang do not use
// them all up. Who has fewest is served first.
type slots struct {
	mu   sync.Mutex
	free int
	sets map[cache.ObjectName]*share
	// asked counts those who had to wait, for an order among them.
	asked int
}

// share is what one set has and waits for.
type share struct {
	used    int
	waiting []waiter
}

type waiter struct {
	order   int
	granted chan struct{}
}

func newSlots(n int) *slots { return &slots{free: n, sets: map[cache.ObjectName]*share{}} }

// take waits for a slot until the turn or the context ends. It has to be given back.
func (s *slots) take(ctx context.Context, turn *turn, key cache.ObjectName) error {
	granted := s.ask(key)
	select {
	case <-granted:
		return nil
	default:
	}
	var err error
	select {
	case <-granted:
		return nil
	case <-turn.over():
		err = errTurnOver
	case <-ctx.Done():
		err = errTermOver
	}
	s.withdraw(key, granted)
	return err
}

// ask returns a channel that is closed when the set has got a slot.
func (s *slots) ask(key cache.ObjectName) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sets[key] == nil {
		s.sets[key] = &share{}
	}
	s.asked++
	granted := make(chan struct{})
	s.sets[key].waiting = append(s.sets[key].waiting, waiter{s.asked, granted})
	s.grant()
	return granted
}

func (s *slots) give(key cache.ObjectName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.sets[key].used--
	s.drop(key)
	s.grant()
}

// withdraw takes back a question, and gives back the slot if it was answered meanwhile.
func (s *slots) withdraw(key cache.ObjectName, granted chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share := s.sets[key]
	for i, w := range share.waiting {
		if w.granted == granted {
			share.waiting = append(share.waiting[:i:i], share.waiting[i+1:]...)
			s.drop(key)
			return
		}
	}
	s.free++
	share.used--
	s.drop(key)
	s.grant()
}

func (s *slots) drop(key cache.ObjectName) {
	if share := s.sets[key]; share.used == 0 && len(share.waiting) == 0 {
		delete(s.sets, key)
	}
}

// grant hands out slots for as long as somebody may have one.
func (s *slots) grant() {
	for next := s.next(); next != nil; next = s.next() {
		first := next.waiting[0]
		next.waiting = next.waiting[1:]
		next.used++
		s.free--
		close(first.granted)
	}
}

// next is the set to be served next, nil for none: of those that may have a slot the
// one that has fewest, and of several the one that has waited longest.
func (s *slots) next() *share {
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
