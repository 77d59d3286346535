// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	v1 "statefulset.dev/api/apps/v1"
)

// Ordinals is the roster of a set: the ordinals of the desired members, and their order. Use it to
// find out whether a member is desired, or how many come before it.
type Ordinals struct {
	replicas int
	// runs are the ordinals that members can have, the lowest first; the last run has no end. There
	// is at least one.
	runs []run
}

// run is a range of ordinals that are not reserved.
type run struct {
	first, last int
	// rank is the number of ordinals in the runs before this one.
	rank int
}

// OrdinalsOf returns the roster of a set. If replicas is not set, it is 1.
func OrdinalsOf(set *v1.StatefulSet) Ordinals {
	o := Ordinals{replicas: 1}
	if set.Spec.Replicas != nil {
		o.replicas = int(*set.Spec.Replicas)
	}
	if set.Spec.Ordinals == nil {
		o.runs = []run{{last: math.MaxInt}}
		return o
	}
	o.runs = runs(int(set.Spec.Ordinals.Start), set.Spec.Ordinals.Reserved)
	return o
}

// runs returns the ordinals from start on that are not reserved. Reserved ranges need not be in
// order, may overlap, and may be empty, because a roster may be built before validation.
func runs(start int, reserved []v1.OrdinalRange) []run {
	reserved = slices.Clone(reserved)
	slices.SortFunc(reserved, func(a, b v1.OrdinalRange) int { return cmp.Compare(a.First, b.First) })
	left := []run{{first: start, last: math.MaxInt}}
	for _, r := range reserved {
		open := &left[len(left)-1]
		first, last := int(r.First), int(r.End())
		if last < open.first || last < first {
			continue
		}
		if first <= open.first {
			open.first = last + 1
			continue
		}
		open.last = first - 1
		left = append(left, run{first: last + 1, last: math.MaxInt, rank: open.rank + open.last - open.first + 1})
	}
	return left
}

// Len is the number of desired members.
func (o Ordinals) Len() int { return o.replicas }

// First is the lowest desired ordinal. For a set without members, it is the first one that it would
// have.
func (o Ordinals) First() int { return o.runs[0].first }

// Last is the highest desired ordinal. It returns false if there is none.
func (o Ordinals) Last() (ordinal int, ok bool) {
	if o.replicas < 1 {
		return 0, false
	}
	at := sort.Search(len(o.runs), func(i int) bool { return o.runs[i].rank >= o.replicas }) - 1
	return o.runs[at].first + o.replicas - 1 - o.runs[at].rank, true
}

// Contains reports whether an ordinal is desired.
func (o Ordinals) Contains(ordinal int) bool {
	_, wanted := o.Rank(ordinal)
	return wanted
}

// Rank is the number of desired ordinals below this one. It returns false if this ordinal is not
// desired.
func (o Ordinals) Rank(ordinal int) (rank int, wanted bool) {
	at := sort.Search(len(o.runs), func(i int) bool { return o.runs[i].first > ordinal }) - 1
	if at < 0 || ordinal > o.runs[at].last {
		return 0, false
	}
	rank = o.runs[at].rank + ordinal - o.runs[at].first
	if rank >= o.replicas {
		return 0, false
	}
	return rank, true
}

// All returns the desired ordinals, the lowest first. There may be more than two billion.
func (o Ordinals) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for first, last := range o.rows() {
			for ordinal := first; ordinal <= last; ordinal++ {
				if !yield(ordinal) {
					return
				}
			}
		}
	}
}

// Ranges returns the desired ordinals as ranges, the lowest first.
func (o Ordinals) Ranges() []v1.OrdinalRange {
	var ranges []v1.OrdinalRange
	for first, last := range o.rows() {
		next := v1.OrdinalRange{First: int32(first)}
		if last > first {
			next.Last = new(int32(last))
		}
		ranges = append(ranges, next)
	}
	return ranges
}

// AppendOrdinal appends an ordinal, which must be above all others, to ranges.
func AppendOrdinal(ranges []v1.OrdinalRange, ordinal int) []v1.OrdinalRange {
	next := int32(ordinal)
	if last := len(ranges) - 1; last >= 0 && ranges[last].End() == next-1 {
		ranges[last].Last = &next
		return ranges
	}
	return append(ranges, v1.OrdinalRange{First: next})
}

// rows returns the first and the last desired ordinal of each run.
func (o Ordinals) rows() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		end, ok := o.Last()
		if !ok {
			return
		}
		for _, r := range o.runs {
			if r.first > end || !yield(r.first, min(r.last, end)) {
				return
			}
		}
	}
}
