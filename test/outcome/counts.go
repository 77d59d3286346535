// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// counts is the oracle for docs/status.md: the status of a set agrees with its pods.
type counts struct{}

func (counts) name() string { return "status" }

func (o counts) rested(j *Judge, now *Scene) {
	set := now.Set
	if !works(set) || now.Skew != 0 {
		return
	}
	if set.Status.ObservedGeneration != set.Generation {
		j.broken(o, "generation: observedGeneration is %d, but the generation is %d", set.Status.ObservedGeneration, set.Generation)
		return
	}
	var ready, surplus int32
	for name := range now.Pods {
		n, is := ordinal(set, name)
		pod := now.podOf(n)
		if !is || pod == nil {
			continue
		}
		ready += one(isReady(pod))
		surplus += one(!isDesired(set, n))
	}
	if set.Status.ReadyReplicas > ready || set.Status.AvailableReplicas > ready || set.Status.AvailableReplicas > set.Status.ReadyReplicas {
		j.broken(o, "counts: the status reports %d ready and %d available members, but %d pods are ready",
			set.Status.ReadyReplicas, set.Status.AvailableReplicas, ready)
	}
	if int(set.Status.Replicas) > len(now.Pods) {
		j.broken(o, "pods: the status reports %d pods, but only %d exist", set.Status.Replicas, len(now.Pods))
	}
	if condition(set, v1.StatefulSetReady).Status != corev1.ConditionTrue {
		return
	}
	switch {
	case !now.allAvailable():
		j.broken(o, "ready: Ready is True, although not all desired members are available")
	case surplus > 0:
		j.broken(o, "surplus: Ready is True, although %d pods are surplus", surplus)
	}
}

func one(is bool) int32 {
	if is {
		return 1
	}
	return 0
}
