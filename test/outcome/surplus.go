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

// surplus holds docs/scaling.md and point 14 of docs/reliability.md: a scale-in ends. No pod of a member
// that was removed stays because another pod is broken or does not end.
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
			j.broken(o, "parallel: pod %s stays, although its member is removed, because another pod does not end", name)
		default:
			j.broken(o, "alone: pod %s stays, although its member is removed", name)
		}
	}
}

// mayStillChange reports whether a surplus pod has neither become ready nor ended for less time than the
// set gives its pods.
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

// readySince is since when a pod has been ready, or not.
func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// longestGrace is the time that a pod may have at most; what a pod asks for beyond it counts as this.
const longestGrace = 100 * 365 * 24 * time.Hour

// grace is how long a pod may take to end.
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

// deadline is how long a set waits for progress.
func deadline(set *v1.StatefulSet) time.Duration {
	if set.Spec.ProgressDeadlineSeconds == nil {
		return 600 * time.Second
	}
	return time.Duration(*set.Spec.ProgressDeadlineSeconds) * time.Second
}

// allAvailable reports whether all members that a set asks for are available.
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

// isFree reports whether no person has to act for a set, except for the pods and claims that do not come along.
func isFree(set *v1.StatefulSet) bool {
	reason := condition(set, v1.StatefulSetStalled).Reason
	return slices.Contains([]string{v1.ReasonNotStalled, v1.ReasonProgressDeadlineExceeded, v1.ReasonClaimGrowthRefused}, reason)
}
