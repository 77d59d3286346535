// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// replacements is the oracle for requests to replace a member: none is forgotten, and each is
// fulfilled (docs/scaling.md, "Replacing members").
type replacements struct{}

func (replacements) name() string { return "replacement" }

// changed finds requests that the controller drops while their pods still exist.
func (o replacements) changed(j *Judge, before, after *Scene, by Actor) {
	if by != Controller || before == nil || before.Set == nil || after.Set == nil || before.Set.UID != after.Set.UID {
		return
	}
	for _, request := range before.Set.Status.Replacements {
		if pod := o.waits(after, request); pod != nil && !isRequested(after.Set, request.PodUID) {
			j.broken(o, "forgotten: pod %s was not replaced, but the request is gone from status.replacements", pod.Name)
		}
	}
}

// rested finds requests that have not been fulfilled although nothing blocks them.
func (o replacements) rested(j *Judge, now *Scene) {
	if !works(now.Set) || condition(now.Set, v1.StatefulSetStalled).Status == corev1.ConditionTrue {
		return
	}
	for _, n := range desired(now.Set) {
		if !now.isAvailable(now.podOf(n)) {
			return
		}
	}
	for _, request := range now.Set.Status.Replacements {
		if pod := o.waits(now, request); pod != nil {
			j.broken(o, "pending: pod %s is not replaced as requested, although all members are available", pod.Name)
		}
	}
}

// waits returns the pod of a request, nil if the pod is gone, is terminating, or is replaced
// anyway.
func (replacements) waits(now *Scene, request v1.MemberReplacement) *corev1.Pod {
	if !isDesired(now.Set, int(request.Ordinal)) {
		return nil
	}
	pod := now.podOf(int(request.Ordinal))
	if pod == nil || pod.UID != request.PodUID || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed ||
		pod.Status.Phase == corev1.PodSucceeded {
		return nil
	}
	return pod
}

func isRequested(set *v1.StatefulSet, pod types.UID) bool {
	return slices.ContainsFunc(set.Status.Replacements, func(r v1.MemberReplacement) bool { return r.PodUID == pod })
}
