// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkConverged plans for sets that are as they should be, which is what most
// looks find. The time per member should not depend on the number of members.
func BenchmarkConverged(b *testing.B) {
	benchmarkLook(b, allReady)
}

func allReady(h *host) {
	for name := range h.pods {
		h.ready(name, corev1.ConditionTrue)
	}
}

// BenchmarkStarting plans for sets all of whose members have a pod that starts.
func BenchmarkStarting(b *testing.B) { benchmarkLook(b, func(*host) {}) }

// BenchmarkInAnotherOrder plans for sets at rest that say in which order they are updated.
func BenchmarkInAnotherOrder(b *testing.B) { benchmarkLook(b, inAnotherOrder) }

func inAnotherOrder(h *host) {
	allReady(h)
	h.configure([]string{"direction=Ascending", "first=2,0", "last=role=standby/role=leader"})
}

func benchmarkLook(b *testing.B, become func(*host)) {
	for _, replicas := range []int{1, 10, 100, 1000, 5000} {
		b.Run(fmt.Sprintf("%d_members", replicas), func(b *testing.B) {
			world := worldWith(b, replicas, become)
			b.ReportAllocs()
			for b.Loop() {
				Compute(world)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(replicas), "ns/member")
		})
	}
}

// worldWith is the world of a parallel set with a claim a member, all of whose pods
// have been created and have become something.
func worldWith(t tester, replicas int, become func(*host)) World {
	h := newHost(t, Compute)
	h.configure([]string{fmt.Sprintf("replicas=%d", replicas), "policy=Parallel", "claims=data"})
	for len(Compute(h.world()).All()) > 0 {
		h.look()
	}
	become(h)
	h.look()
	return h.world()
}

// TestALookAllocatesNothingPerMember bounds what a look at a set costs that needs
// nothing done: its lists grow with the members, and nothing is made for each.
func TestALookAllocatesNothingPerMember(t *testing.T) {
	for sentence, become := range map[string]func(*host){
		"members are ready":            allReady,
		"members start":                func(*host) {},
		"members are in another order": inAnotherOrder,
	} {
		t.Run(sentence, func(t *testing.T) {
			few, many := worldWith(t, 10, become), worldWith(t, 400, become)
			least := testing.AllocsPerRun(5, func() { Compute(few) })
			if got, want := testing.AllocsPerRun(5, func() { Compute(many) }), least+40; got > want {
				t.Errorf("allocations of a look at 400 members: got %v, want at most %v, 40 more than at 10", got, want)
			}
		})
	}
}
