//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// silence is how long nothing may have changed before a side counts as at rest.
	silence = 700 * time.Millisecond
	// grace is how long sides that are at rest and different are given to become the
	// same: one of them may only be slow. What is explained anyhow gets less.
	grace          = 20 * time.Second
	explainedGrace = 2 * time.Second
	// restLimit bounds the wait for rest.
	restLimit = 30 * time.Second
)

// duel is one scenario, played on both sides.
type duel struct {
	scenario
	t             *testing.T
	explanations  []explanation
	builtin, ours *side
	// marks are how long the logs of the two sides were when the step began.
	marks [2]int
	found []difference
}

func (l *lab) play(t *testing.T, s scenario, explanations []explanation) []difference {
	t.Helper()
	d := &duel{scenario: s, t: t, explanations: explanations}
	var err error
	if d.builtin, err = l.open(t.Context(), s.name, "builtin", builtinSets); err != nil {
		t.Fatal(err)
	}
	if d.ours, err = l.open(t.Context(), s.name, "ours", ourSets); err != nil {
		t.Fatal(err)
	}
	var kubelets sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for _, side := range d.sides() {
		kubelets.Go(func() { side.kubelet.run(ctx) })
	}
	t.Cleanup(func() {
		stop()
		kubelets.Wait()
		for _, side := range d.sides() {
			l.close(context.WithoutCancel(ctx), side)
		}
	})
	for _, c := range s.commands {
		if err := d.step(ctx, c); err != nil {
			t.Fatalf("line %d: %s: %v%s", c.line, c, err, d.describe())
		}
	}
	d.settle(ctx, "at the end", func() []difference { return compareEvents(d.builtin.told(), d.ours.told()) })
	return d.found
}

func (d *duel) sides() [2]*side { return [2]*side{d.builtin, d.ours} }

// step plays a command on both sides, lets them come to rest, and compares.
func (d *duel) step(ctx context.Context, c command) error {
	for i, side := range d.sides() {
		side.mu.Lock()
		d.marks[i] = len(side.log)
		side.mu.Unlock()
	}
	var answers [2]string
	var errs [2]error
	var both sync.WaitGroup
	for i, side := range d.sides() {
		both.Go(func() {
			answers[i], errs[i] = side.play(ctx, c)
			side.stir()
		})
	}
	both.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	d.t.Logf("line %d: %s: %s", c.line, c, answers[0])
	if (answers[0] != accepted) != c.refused {
		return fmt.Errorf("the built-in StatefulSet answers %q, which the scenario does not expect; ours answers %q", answers[0], answers[1])
	}
	if answers[0] != answers[1] {
		d.note(fmt.Sprintf("line %d", c.line), []difference{{what: "answer to " + c.String(), builtin: answers[0], ours: answers[1]}})
	}
	warned := [2]string{listed(d.builtin.warnings.take()), listed(d.ours.warnings.take())}
	if warned[0] != warned[1] {
		d.note(fmt.Sprintf("line %d", c.line), []difference{{what: "warnings of " + c.String(), builtin: warned[0], ours: warned[1]}})
	}
	d.settle(ctx, fmt.Sprintf("line %d", c.line), d.compare)
	return nil
}

func (d *duel) compare() []difference {
	return slices.Concat(
		compareHistories(d.builtin.history(d.marks[0]), d.ours.history(d.marks[1])),
		compareSnapshots(d.builtin.snapshot(), d.ours.snapshot()),
		compareCourses(d.builtin.courses(d.marks[0]), d.ours.courses(d.marks[1])),
		d.ours.misreadings(d.marks[1]))
}

// settle waits until both sides are at rest, and, if they are not the same, as long
// as there is hope; then it notes what is different.
func (d *duel) settle(ctx context.Context, when string, compare func() []difference) {
	d.rest(ctx)
	begun := time.Now()
	for {
		found := d.news(compare())
		patience := explainedGrace
		if slices.ContainsFunc(found, func(f difference) bool { return !d.isExplained(f) }) {
			patience = grace
		}
		left := patience - time.Since(begun)
		if len(found) == 0 || left <= 0 || ctx.Err() != nil {
			d.note(when, found)
			return
		}
		limited, cancel := context.WithTimeout(ctx, left)
		_ = d.waitForChange(limited)
		cancel()
		d.rest(ctx)
	}
}

// news are those of the differences that have not been noted yet.
func (d *duel) news(all []difference) []difference {
	return slices.DeleteFunc(all, func(f difference) bool {
		return slices.ContainsFunc(d.found, func(known difference) bool {
			return known.what == f.what && known.builtin == f.builtin && known.ours == f.ours
		})
	})
}

func (d *duel) isExplained(f difference) bool {
	return slices.ContainsFunc(d.explanations, func(e explanation) bool { return e.explains(d.name, f) >= 0 })
}

func (d *duel) note(when string, found []difference) {
	for _, f := range found {
		f.when = when
		d.found = append(d.found, f)
	}
}

// waitForChange waits until anything happens on either side.
func (d *duel) waitForChange(ctx context.Context) error {
	d.builtin.mu.Lock()
	first := d.builtin.woken
	d.builtin.mu.Unlock()
	d.ours.mu.Lock()
	second := d.ours.woken
	d.ours.mu.Unlock()
	select {
	case <-first:
	case <-second:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// rest waits until nothing has changed for a while on either side, and both have
// observed their sets.
func (d *duel) rest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, restLimit)
	defer cancel()
	for ctx.Err() == nil {
		left := max(d.builtin.restless(), d.ours.restless())
		if left <= 0 {
			return
		}
		limited, stop := context.WithTimeout(ctx, left)
		_ = d.waitForChange(limited)
		stop()
	}
}

// restless is how much longer a side must be silent to be at rest. A side that has
// not observed a set is given more time.
func (s *side) restless() time.Duration {
	want := silence
	for _, set := range s.all(sets) {
		observed, _, _ := unstructured.NestedInt64(set.Object, "status", "observedGeneration")
		if observed < set.GetGeneration() {
			want = 5 * silence
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return want - time.Since(s.stirred)
}

// describe tells what a scenario has come to, for one that cannot go on.
func (d *duel) describe() string {
	text := ""
	for _, f := range d.found {
		text += "\n  " + f.String()
	}
	return text
}
