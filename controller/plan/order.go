// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// inUpdateOrder are the desired members in the order in which they are changed: the highest ordinal
// first, unless the set requests another order.
func (f *facts) inUpdateOrder() iter.Seq[member] {
	if f.updateSequence != nil {
		return slices.Values(f.updateSequence)
	}
	return func(yield func(member) bool) {
		for _, m := range slices.Backward(f.members) {
			if !yield(m) {
				return
			}
		}
	}
}

// updateOrder is the order that the set requests, nil if it is that of apps/v1.
func (f *facts) updateOrder() *v1.UpdateOrder {
	strategy := f.world.Set.Spec.UpdateStrategy
	if strategy.Type != v1.RollingUpdateStatefulSetStrategyType || strategy.RollingUpdate == nil || !strategy.RollingUpdate.Order.Reorders() {
		return nil
	}
	return strategy.RollingUpdate.Order
}

// findUpdateSequence sorts the desired members into the order that the set requests. The leader may
// change at any time, so the order uses the current labels of the pods, once in a sync.
func (f *facts) findUpdateSequence() {
	order := f.updateOrder()
	if order == nil {
		return
	}
	placed, classes := places(order.First), selectors(order.Last)
	for i := range f.members {
		m := &f.members[i]
		m.place = placeOf(placed, m.ordinal)
		m.class = classOf(classes, *m)
	}
	f.updateSequence = slices.Clone(f.members)
	slices.SortFunc(f.updateSequence, func(a, b member) int { return compareTurns(a, b, order.Direction) })
}

// compareTurns says which of two members is changed first according to the order alone. A member
// that comes last does so even if its ordinal is among those that come first.
func compareTurns(a, b member, direction v1.UpdateDirectionType) int {
	upward := cmp.Compare(a.ordinal, b.ordinal)
	if direction != v1.AscendingUpdateDirectionType {
		upward = -upward
	}
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.place, b.place), upward)
}

// placed is a range of ordinals that come first, and its place among these ranges.
type placed struct{ first, last, place int }

// places are the ranges of ordinals that come first, sorted by ordinal.
func places(first []v1.OrdinalRange) []placed {
	all := make([]placed, 0, len(first))
	for i, r := range first {
		all = append(all, placed{int(r.First), int(r.End()), i - len(first)})
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.first, b.first) })
	return all
}

func placeOf(all []placed, ordinal int) int {
	at := sort.Search(len(all), func(i int) bool { return all[i].first > ordinal }) - 1
	if at < 0 || ordinal > all[at].last {
		return 0
	}
	return all[at].place
}

func selectors(last []metav1.LabelSelector) []labels.Selector {
	all := make([]labels.Selector, 0, len(last))
	for i := range last {
		selector, err := metav1.LabelSelectorAsSelector(&last[i])
		if err != nil {
			selector = labels.Nothing() // validation rejects such a selector
		}
		all = append(all, selector)
	}
	return all
}

// classOf is the number, from 1, of the last selector that matches the member's pod. It is 0 if
// none does.
func classOf(all []labels.Selector, m member) int {
	if m.pod == nil {
		return 0
	}
	for i, selector := range slices.Backward(all) {
		if selector.Matches(labels.Set(m.pod.Labels)) {
			return i + 1
		}
	}
	return 0
}

// turnOf says why it is the turn of a member, empty if its ordinal is the only reason.
func (f *facts) turnOf(m member) string {
	switch {
	case m.class > 0:
		return "last, " + f.mark(m)
	case m.place < 0:
		return "first"
	default:
		return ""
	}
}

// mark is the selector by which a member comes last.
func (f *facts) mark(m member) string {
	return words.Sanitize(metav1.FormatLabelSelector(&f.updateOrder().Last[m.class-1]))
}

// barrier blocks members that come last as long as a member before them is outdated, unavailable
// or to be replaced on request. They are changed only when all members before them are updated and
// available, whatever else the order says.
type barrier struct {
	// awaited is the first member that is not done, among those of the lowest class.
	awaited member
	// blocked is the first blocked member, nil if none is blocked.
	blocked *member
	// reported is true if the wait message of the set names the blocked member.
	reported bool
}

func (f *facts) barrier() *barrier {
	b := &barrier{awaited: member{class: math.MaxInt}}
	if f.updateSequence == nil {
		return b
	}
	for _, m := range f.updateSequence {
		if m.class >= b.awaited.class {
			continue
		}
		if _, how := f.target(m); how != keep || f.isUnavailable(m) || f.isReplacementRequested(m) {
			b.awaited = m
		}
	}
	return b
}

// barrier is the barrier of this sync, for updates and replacement requests.
func (d *draft) barrier(f *facts) *barrier {
	if d.last == nil {
		d.last = f.barrier()
	}
	return d.last
}

// blocks reports whether a member that is to be recreated is blocked. A broken member is not: it is
// unavailable in any case.
func (b *barrier) blocks(m member) bool {
	if m.class <= b.awaited.class || !isReady(m.pod) || isTerminating(m.pod) {
		return false
	}
	if b.blocked == nil {
		b.blocked = &m
	}
	return true
}

// skip records for a blocked member which other one it waits for.
func (b *barrier) skip(f *facts, d *draft, m member) {
	if d.explains() {
		d.skip(m, v1.PlanWhyNotOrder, "it is last ("+f.mark(m)+"); waiting for "+f.podName(b.awaited))
	}
}

// report adds to the wait message which member is blocked, and by which other one. If the budget is
// used up, that is the cause instead.
func (b *barrier) report(f *facts, d *draft) {
	if b.blocked == nil || b.reported || d.budget.remaining <= 0 {
		return
	}
	b.reported = true
	if d.waiting != "" {
		d.waiting += "; "
	}
	d.waiting += f.podName(*b.blocked) + " (" + f.mark(*b.blocked) + ") is last; waiting for " + f.podName(b.awaited)
}
