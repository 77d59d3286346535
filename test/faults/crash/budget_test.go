//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// hearing is how long it may take a controller to hear of a change of a set.
const hearing = 5 * time.Second

// unavailable finds updates that took more ready members down at once than the set
// allows. A member is down from when it is deleted until its successor is ready. Of several
// controllers that are active, each keeps within the limit by what it knows, and members
// are counted together if all knew the same generation.
func unavailable(j judged) []violation {
	var found []violation
	down := map[int]int64{}
	wasReady := map[string]bool{}
	for _, r := range j.records {
		if r.kind != pods {
			continue
		}
		pod := r.object.(*corev1.Pod)
		ordinal := ordinalOf(pod.Name)
		switch {
		case r.verb == deleting && wasReady[pod.Name] && j.wantedAround(r.at, pod):
			generation, counts := j.takenDownFor(pod)
			if !counts {
				break
			}
			down[ordinal] = generation
			if together, limit := of(generation, down), j.maxUnavailable(); len(together) > limit {
				found = append(found,
					violation{available, fmt.Sprintf("at version %d, got members %v down, want at most %d", r.version, together, limit)})
			}
		case isReady(pod) && r.verb != gone:
			delete(down, ordinal)
		}
		wasReady[pod.Name] = isReady(pod)
	}
	return found
}

// of are the members that are down for a generation, in their order.
func of(generation int64, down map[int]int64) (members []int) {
	for ordinal, taken := range down {
		if taken == generation {
			members = append(members, ordinal)
		}
	}
	slices.Sort(members)
	return members
}

// takenDownFor is the generation of the set for which a controller has ended a pod. It counts
// not if none has, or if several are active and the set had changed just before. One
// controller alone has to count what it did for any generation, and all are the same.
func (j judged) takenDownFor(pod *corev1.Pod) (generation int64, counts bool) {
	end := j.requestedEnd(pod)
	if end == nil || !j.shared {
		return 0, end != nil
	}
	newest := j.generationAt(end.at)
	return newest, newest == j.generationAt(end.at.Add(-hearing))
}

func (j judged) generationAt(at time.Time) (generation int64) {
	for _, r := range j.records {
		if r.kind == sets && !r.at.After(at) {
			generation = r.object.(*v1.StatefulSet).Generation
		}
	}
	return generation
}

func (j judged) maxUnavailable() int {
	rolling := j.scenario.Set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.MaxUnavailable == nil {
		return 1
	}
	return rolling.MaxUnavailable.IntValue()
}
