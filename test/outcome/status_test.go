// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// stands gives a status conditions: one of Ready and Stalled is True.
func stands(ready, available bool, why string) func(*v1.StatefulSetStatus) {
	is := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}
	return func(s *v1.StatefulSetStatus) {
		s.Conditions = []v1.StatefulSetCondition{
			{Type: v1.StatefulSetReady, Status: is[ready], Message: why},
			{Type: v1.StatefulSetAvailable, Status: is[available]},
			{Type: v1.StatefulSetStalled, Status: is[!ready], Reason: v1.ReasonProgressDeadlineExceeded},
		}
	}
}

func TestConditions(t *testing.T) {
	type rolling = v1.RollingUpdateStatefulSetStrategy
	rests := func(broken []int, status func(*v1.StatefulSetStatus)) func(f *film) {
		return func(f *film) {
			f.reports = nil // what the film begins with has no conditions
			for _, n := range broken {
				f.ready(n, false)
			}
			f.status(status)
			f.judge.Rested()
		}
	}
	checkPromises(t, "condition", map[string]promise{
		"all members are available":                    {rolling{}, rests(nil, stands(true, true, "")), ""},
		"Available is True with two of three broken":   {rolling{}, rests([]int{0, 1}, stands(false, true, "web-0: broken")), "available: "},
		"Available is False with one of three broken":  {rolling{}, rests([]int{0}, stands(false, false, "web-0: broken")), "unavailable: "},
		"a set rests without a member, and is Ready":   {rolling{}, rests([]int{0}, stands(true, true, "web-0: broken")), "stalled: "},
		"a set rests without a member, and names none": {rolling{}, rests([]int{0}, stands(false, true, "web-01: broken")), "why: "},
		"a set rests without a member, and names it":   {rolling{}, rests([]int{0}, stands(false, true, "web-0: broken")), ""},
		"a set is both ready and stalled": {rolling{}, func(f *film) {
			f.reports = nil
			f.status(func(s *v1.StatefulSetStatus) {
				stands(true, true, "")(s)
				s.Conditions[2].Status = corev1.ConditionTrue
			})
		}, "one: "},
	})
}

func TestRevisions(t *testing.T) {
	type rolling = v1.RollingUpdateStatefulSetStrategy
	becomes := func(members ...int) func(f *film) {
		return func(f *film) {
			f.update("b")
			for _, n := range members {
				f.change(n, Cluster, func(pod *corev1.Pod) {
					pod.Labels = map[string]string{"controller-revision-hash": "b"}
					pod.Spec.Containers = []corev1.Container{{Name: "db", Image: "b"}}
				})
			}
			f.status(func(s *v1.StatefulSetStatus) { s.CurrentRevision = "b" })
		}
	}
	checkPromises(t, "revision", map[string]promise{
		"an update is complete":         {rolling{}, becomes(0, 1, 2), ""},
		"an update has missed a member": {rolling{}, becomes(1, 2), "current: b"},
		"a paused update is complete":   {rolling{Paused: new(true)}, becomes(0, 1, 2), "current: b"},
		"the status counts too many pods": {rolling{}, func(f *film) {
			f.status(func(s *v1.StatefulSetStatus) { s.UpdatedReplicas = 4 })
			f.judge.Rested()
		}, "counts: "},
		"a surplus pod stands in for a member": {rolling{}, func(f *film) {
			f.edit(func(set *v1.StatefulSet) { set.Spec.Ordinals = &v1.StatefulSetOrdinals{Start: 1} })
			becomes(0, 1, 2)(f)
		}, "current: b"},
	})
}
