// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	// interruptedSetTimeout is how long the workers wait for one set that is evaluated before they
	// begin, interruptedSetsTimeout for all of them. The sets that are left are evaluated in their
	// turn.
	interruptedSetTimeout  = 15 * time.Second
	interruptedSetsTimeout = time.Minute
)

// interruptedSets are sets with the mark of a process that has ended.
type interruptedSets struct {
	// limit bounds the evaluations under a mark that run at the same time.
	limit *semaphore.Weighted
	// now is the set that is evaluated before the workers begin, nil if there is none.
	now atomic.Pointer[cache.ObjectName]
}

func newInterruptedSets() *interruptedSets {
	return &interruptedSets{limit: semaphore.NewWeighted(evaluationLimit)}
}

// isEvaluating reports whether a set is evaluated before the workers begin.
func (s *interruptedSets) isEvaluating(key cache.ObjectName) bool {
	now := s.now.Load()
	return now != nil && *now == key
}

// ready returns an error while a set is evaluated before the workers begin.
func (s *interruptedSets) ready() error {
	if now := s.now.Load(); now != nil {
		return fmt.Errorf("the controller leads and first evaluates set %s alone, because a process ended while evaluating it", now)
	}
	return nil
}

// evaluateInterruptedSets syncs the sets with the mark of a process that has ended, one by one and
// before all other sets. Their turns are over from the start. So nothing is written to the host
// cluster, which might take long, and a set that hangs does not keep the workers from beginning.
func (t *term) evaluateInterruptedSets(ctx context.Context) {
	until := t.config.Clock.Now().Add(interruptedSetsTimeout)
	for _, key := range t.marked() {
		if ctx.Err() != nil || !t.config.Clock.Now().Before(until) {
			return
		}
		if !t.evaluateInterruptedSet(ctx, key) {
			klog.FromContext(ctx).Info("Not waiting any longer for the evaluation of a set", "set", key, "waited", interruptedSetTimeout)
			return
		}
	}
}

// evaluateInterruptedSet syncs one such set, and reports whether the sync has ended in time.
func (t *term) evaluateInterruptedSet(ctx context.Context, key cache.ObjectName) bool {
	done, turn := make(chan struct{}), newTurn()
	turn.end()
	t.interruptedSets.now.Store(&key)
	t.syncs.Go(func() {
		defer close(done)
		defer t.interruptedSets.now.Store(nil)
		t.syncAndRequeue(ctx, turn, key)
	})
	timer := t.config.Clock.NewTimer(interruptedSetTimeout)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C():
		return false
	case <-ctx.Done():
		return false
	}
}

// marked are the sets with the mark of another process, the oldest mark first.
func (t *term) marked() []cache.ObjectName {
	var found []*v1.StatefulSet
	for _, object := range t.view[setsResource].List() {
		set, ok := object.(*v1.StatefulSet)
		if !ok {
			continue
		}
		if mark := set.Status.Evaluation; mark != nil && mark.Holder != "" && mark.Holder != t.config.Identity {
			found = append(found, set)
		}
	}
	slices.SortFunc(found, func(a, b *v1.StatefulSet) int {
		x, y := a.Status.Evaluation.StartedAt, b.Status.Evaluation.StartedAt
		if x.Before(y) || y.Before(x) {
			return cmp.Compare(x.Unix(), y.Unix())
		}
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	keys := make([]cache.ObjectName, len(found))
	for i := range found {
		keys[i] = cache.MetaObjectToName(found[i])
	}
	return keys
}
