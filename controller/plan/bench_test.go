// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"
)

// BenchmarkConverged plans for sets that are as they should be, which is what most
// looks find. The time per member should not depend on the number of members.
func BenchmarkConverged(b *testing.B) {
	for _, replicas := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("%d_members", replicas), func(b *testing.B) {
			h := newHost(b, Compute)
			h.configure([]string{fmt.Sprintf("replicas=%d", replicas), "policy=Parallel", "claims=data"})
			for len(Compute(h.world()).All()) > 0 {
				h.look()
			}
			world := h.world()
			b.ReportAllocs()
			for b.Loop() {
				Compute(world)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(replicas), "ns/member")
		})
	}
}
