// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

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
		"three with a hole":    {v1.StatefulSetSpec{Replicas: ptr.To[int32](3), Ordinals: reserving(0, "1")}, []int{0, 2, 3}},
		"three with two holes, of which one is long": {
			v1.StatefulSetSpec{Replicas: ptr.To[int32](3), Ordinals: reserving(0, "4", "1-2")}, []int{0, 3, 5}},
		"the first reserved":        {v1.StatefulSetSpec{Replicas: ptr.To[int32](2), Ordinals: reserving(3, "3-4")}, []int{5, 6}},
		"reserved below the first":  {v1.StatefulSetSpec{Replicas: ptr.To[int32](2), Ordinals: reserving(3, "0-1")}, []int{3, 4}},
		"reserved across the first": {v1.StatefulSetSpec{Replicas: ptr.To[int32](2), Ordinals: reserving(3, "0-3")}, []int{4, 5}},
		"reserved above the last":   {v1.StatefulSetSpec{Replicas: ptr.To[int32](2), Ordinals: reserving(0, "2-9")}, []int{0, 1}},
		"ranges that touch":         {v1.StatefulSetSpec{Replicas: ptr.To[int32](2), Ordinals: reserving(0, "1-2", "3")}, []int{0, 4}},
		"ranges that nobody would accept": {
			v1.StatefulSetSpec{Replicas: ptr.To[int32](3), Ordinals: reserving(0, "1-4", "2-3", "7-6", "1")}, []int{0, 5, 6}},
		"none, with one reserved": {v1.StatefulSetSpec{Replicas: ptr.To[int32](0), Ordinals: reserving(0, "0")}, nil},
		"none from the fifth":     {v1.StatefulSetSpec{Replicas: ptr.To[int32](0), Ordinals: &v1.StatefulSetOrdinals{Start: 5}}, nil},
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
					t.Errorf("ordinal %d: got rank %d, %t, contained %t; want rank %d, %t", ordinal, rank, wanted, roster.Contains(ordinal), wantRank,
						want)
				}
			}
		})
	}
}

// reserving has ranges such as 1 or 3-5.
func reserving(start int32, ranges ...string) *v1.StatefulSetOrdinals {
	ordinals := &v1.StatefulSetOrdinals{Start: start}
	for _, text := range ranges {
		var first, last int32
		n, _ := fmt.Sscanf(text, "%d-%d", &first, &last)
		r := v1.OrdinalRange{First: first}
		if n == 2 {
			r.Last = &last
		}
		ordinals.Reserved = append(ordinals.Reserved, r)
	}
	return ordinals
}

func TestRandomRostersAreAsAWalkFindsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.Int32Range(0, 8).Draw(t, "replicas")
		ordinals := &v1.StatefulSetOrdinals{Start: rapid.Int32Range(0, 6).Draw(t, "start")}
		for range rapid.IntRange(0, 5).Draw(t, "ranges") {
			first := rapid.Int32Range(0, 12).Draw(t, "first")
			ordinals.Reserved = append(ordinals.Reserved, v1.OrdinalRange{First: first, Last: new(first + rapid.Int32Range(0, 3).Draw(t, "length"))})
		}
		want := walked(ordinals, int(replicas))
		roster := OrdinalsOf(&v1.StatefulSet{Spec: v1.StatefulSetSpec{Replicas: &replicas, Ordinals: ordinals}})
		if got := slices.Collect(roster.All()); !slices.Equal(got, want) {
			t.Fatalf("ordinals of %+v: got %v, want %v", ordinals, got, want)
		}
		for ordinal := range 40 {
			at, contained := slices.BinarySearch(want, ordinal)
			if rank, wanted := roster.Rank(ordinal); wanted != contained || wanted && rank != at {
				t.Fatalf("rank of %d of %+v: got %d, %t; want %d, %t", ordinal, ordinals, rank, wanted, at, contained)
			}
		}
		if last, ok := roster.Last(); ok != (len(want) > 0) || ok && last != want[len(want)-1] {
			t.Fatalf("last of %+v: got %d, %t; want that of %v", ordinals, last, ok, want)
		}
	})
}

// walked are the first ordinals that are not reserved, found one after the other.
func walked(ordinals *v1.StatefulSetOrdinals, replicas int) (wanted []int) {
	for ordinal := ordinals.Start; len(wanted) < replicas; ordinal++ {
		if !slices.ContainsFunc(ordinals.Reserved, func(r v1.OrdinalRange) bool { return r.First <= ordinal && ordinal <= r.End() }) {
			wanted = append(wanted, int(ordinal))
		}
	}
	return wanted
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
	set := &v1.StatefulSet{
		Spec: v1.StatefulSetSpec{Replicas: ptr.To[int32](math.MaxInt32), Ordinals: &v1.StatefulSetOrdinals{Start: math.MaxInt32}}}
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
