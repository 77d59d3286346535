// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"iter"

	v1 "statefulset.dev/api/apps/v1"
)

// Ordinals is the roster of a set: the ordinals that it wants, and their order. Whoever
// asks whether a member is wanted, or how many come before it, asks here.
type Ordinals struct {
	start, replicas int
}

// OrdinalsOf is the roster of a set; one without a number of replicas wants one.
func OrdinalsOf(set *v1.StatefulSet) Ordinals {
	o := Ordinals{replicas: 1}
	if set.Spec.Ordinals != nil {
		o.start = int(set.Spec.Ordinals.Start)
	}
	if set.Spec.Replicas != nil {
		o.replicas = int(*set.Spec.Replicas)
	}
	return o
}

// Len is the number of ordinals that are wanted.
func (o Ordinals) Len() int { return o.replicas }

// First is the lowest ordinal, or of a set that wants none, the one that it would want
// first.
func (o Ordinals) First() int { return o.start }

// Contains reports whether an ordinal is wanted.
func (o Ordinals) Contains(ordinal int) bool {
	_, wanted := o.Rank(ordinal)
	return wanted
}

// Rank is the number of wanted ordinals below this one, and false if this one is not
// wanted itself.
func (o Ordinals) Rank(ordinal int) (rank int, wanted bool) {
	rank = ordinal - o.start
	if rank < 0 || rank >= o.replicas {
		return 0, false
	}
	return rank, true
}

// All are the wanted ordinals, the lowest first. There may be two thousand million.
func (o Ordinals) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for rank := range o.replicas {
			if !yield(o.start + rank) {
				return
			}
		}
	}
}
