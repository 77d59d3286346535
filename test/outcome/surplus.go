// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// surplus is the oracle for docs/scaling.md and point 14 of docs/reliability.md: a scale-in ends.
// No pod of a removed member stays because another pod is broken or does not terminate.
type surplus struct{}

func (surplus) name() string { return "surplus" }

func (o surplus) rested(j *Judge, now *Scene) { //nolint:gocyclo // each condition is one reason to say nothing
	set := now.Set
	if !works(set) || set.Spec.Disruption != nil || len(set.Spec.ObjectTemplates) > 0 || now.Skew != 0 || !isFree(set) {
		return
	}
	ordered, recreates := isOrdered(set), set.Spec.UpdateStrategy.Type == v1.RecreateStatefulSetStrategyType
	if ordered && (!now.allAvailable() || now.anyEnds()) || recreates && now.anyEnds() {
		return // an ordered scale-in and Recreate wait for these, as in apps/v1
	}
	for _, name := range slices.Sorted(maps.Keys(now.Pods)) {
		n, is := ordinal(set, name)
		pod := now.podOf(n)
		if !is || isDesired(set, n) || pod == nil || pod.DeletionTimestamp != nil || now.mayStillChange() {
			continue
		}
		switch {
		case ordered:
			j.broken(o, "ordered: pod %s stays, although its member is removed and all desired members are available", name)
		case now.anyEnds():
			j.broken(o, "parallel: pod %s stays, although its member is removed, because another pod does not terminate", name)
		default:
			j.broken(o, "alone: pod %s stays, although its member is removed", name)
		}
	}
}

// mayStillChange reports whether a surplus pod may still become ready or terminate in the time that
// the set allows its pods.
func (s *Scene) mayStillChange() bool {
	for name := range s.Pods {
		n, is := ordinal(s.Set, name)
		pod := s.podOf(n)
		if !is || pod == nil || isDesired(s.Set, n) || s.isAvailable(pod) {
			continue
		}
		since := readySince(pod)
		if pod.DeletionTimestamp != nil {
			since = pod.DeletionTimestamp.Add(grace(pod))
		}
		if s.Now.Sub(since) <= deadline(s.Set) {
			return true
		}
	}
	return false
}

// readySince returns the time since which a pod has been ready, or not ready.
func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// longestGrace is the maximum grace period; longer ones count as this.
const longestGrace = 100 * 365 * 24 * time.Hour

// grace returns how long a pod may take to terminate.
func grace(pod *corev1.Pod) time.Duration {
	seconds := pod.Spec.TerminationGracePeriodSeconds
	switch {
	case seconds == nil:
		return 30 * time.Second
	case *seconds >= int64(longestGrace/time.Second):
		return longestGrace
	}
	return time.Duration(*seconds) * time.Second
}

// deadline returns how long a set waits for progress.
func deadline(set *v1.StatefulSet) time.Duration {
	if set.Spec.ProgressDeadlineSeconds == nil {
		return 600 * time.Second
	}
	return time.Duration(*set.Spec.ProgressDeadlineSeconds) * time.Second
}

// allAvailable reports whether all desired members of a set are available.
func (s *Scene) allAvailable() bool {
	return !slices.ContainsFunc(desired(s.Set), func(n int) bool { return !s.isAvailable(s.podOf(n)) })
}

// anyEnds reports whether a pod is terminating.
func (s *Scene) anyEnds() bool {
	for _, pod := range s.Pods {
		if pod.DeletionTimestamp != nil {
			return true
		}
	}
	return false
}

func isOrdered(set *v1.StatefulSet) bool {
	return set.Spec.PodManagementPolicy != v1.ParallelPodManagement
}

// isFree reports whether no person must act for a set, except for missing pods and claims.
func isFree(set *v1.StatefulSet) bool {
	reason := condition(set, v1.StatefulSetStalled).Reason
	return slices.Contains([]string{v1.ReasonNotStalled, v1.ReasonProgressDeadlineExceeded, v1.ReasonClaimGrowthRefused}, reason)
}
