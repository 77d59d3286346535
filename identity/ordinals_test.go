// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"math"
	"slices"
	"testing"

	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

func TestOrdinals(t *testing.T) {
	for sentence, c := range map[string]struct {
		spec v1.StatefulSetSpec
		want []int
	}{
		"replicas left out":    {v1.StatefulSetSpec{}, []int{0}},
		"three replicas":       {v1.StatefulSetSpec{Replicas: ptr.To[int32](3)}, []int{0, 1, 2}},
		"three from the fifth": {v1.StatefulSetSpec{Replicas: ptr.To[int32](3), Ordinals: &v1.StatefulSetOrdinals{Start: 5}}, []int{5, 6, 7}},
		"none":                 {v1.StatefulSetSpec{Replicas: ptr.To[int32](0)}, nil},
		"none from the fifth":  {v1.StatefulSetSpec{Replicas: ptr.To[int32](0), Ordinals: &v1.StatefulSetOrdinals{Start: 5}}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			roster := OrdinalsOf(&v1.StatefulSet{Spec: c.spec})
			if got := slices.Collect(roster.All()); !slices.Equal(got, c.want) || roster.Len() != len(c.want) {
				t.Errorf("got the ordinals %v, %d of them; want %v", got, roster.Len(), c.want)
			}
			for ordinal := range 10 {
				rank, wanted := roster.Rank(ordinal)
				wantRank, want := slices.BinarySearch(c.want, ordinal)
				if !want {
					wantRank = 0
				}
				if rank != wantRank || wanted != want || roster.Contains(ordinal) != want {
					t.Errorf("ordinal %d: got rank %d, %t, contained %t; want rank %d, %t", ordinal, rank, wanted, roster.Contains(ordinal), wantRank, want)
				}
			}
		})
	}
}

func TestTheFirstOrdinalDoesNotDependOnTheReplicas(t *testing.T) {
	for _, replicas := range []int32{0, 1, 3} {
		set := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Replicas: &replicas, Ordinals: &v1.StatefulSetOrdinals{Start: 5}}}
		if got := OrdinalsOf(set).First(); got != 5 {
			t.Errorf("first ordinal of %d from the fifth: got %d, want 5", replicas, got)
		}
	}
}

func TestTheLargestRosterIsNotMade(t *testing.T) {
	set := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Replicas: ptr.To[int32](math.MaxInt32), Ordinals: &v1.StatefulSetOrdinals{Start: math.MaxInt32}}}
	roster := OrdinalsOf(set)
	for ordinal := range roster.All() {
		if ordinal != math.MaxInt32 {
			t.Errorf("first of all: got %d, want %d", ordinal, math.MaxInt32)
		}
		break
	}
	if last := 2*math.MaxInt32 - 1; !roster.Contains(last) || roster.Contains(last+1) {
		t.Errorf("got %d contained %t and the next %t, want the first only", last, roster.Contains(last), roster.Contains(last+1))
	}
}
